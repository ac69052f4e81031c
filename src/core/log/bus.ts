import type { Entry } from './log.ts';
import type { TenantId } from './route.ts';

/** What a wake-up is about: the log of one tenant, the directory (configuration of all tenants), or commands to panels. */
export type Topic = TenantId | 'directory' | 'commands';

/**
 * Publish and subscribe between the nodes. A message wakes its subscribers; it may be lost or repeated, so every subscriber also
 * polls. A follower of a log uses the entries of a message only if they are exactly the next ones. A message without
 * entries only means that something changed.
 */
export interface Bus {
  publish(topic: Topic, entries: readonly Entry[]): void;
  subscribe(topic: Topic, listener: (entries: readonly Entry[]) => void): () => void;
  /** Why messages do not reach other nodes now; undefined when they do, or when there are no other nodes. */
  problem(): string | undefined;
  /** Closes its connections. Takes about a second at most, even if a connection hangs. */
  close(): Promise<void>;
}
