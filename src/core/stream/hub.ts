import { encodeSse } from '#contract/sse.ts';
import type { Screen } from '../directory.ts';
import type { Follower } from './follow.ts';
import type { FrameBuffer } from './frame-buffer.ts';
import type { PanelStream } from './panel-stream.ts';

/** State of one connected stream. */
export interface ConnectionState {
  readonly screen: Screen;
  /** Digest of the settings that were last sent to it. */
  settingsDigest: string;
}

/** One tenant: the follower of its log, the newest frames, and the streams that share them. */
export interface Hub {
  readonly buffer: FrameBuffer;
  readonly follower: Follower;
  /** In the order of connecting. */
  readonly connections: Map<PanelStream, ConnectionState>;
}

/** Random for each client, so that clients do not all reconnect at the same moment. */
export const retryMs = () => 2_000 + Math.floor(Math.random() * 6_000);

/** Ends the streams of a hub; their panels come back within some seconds, not all at the same moment. */
export function sayBye(hub: Hub | undefined): void {
  for (const stream of hub?.connections.keys() ?? [])
    stream.end(encodeSse({ event: 'bye', data: { reconnectMs: 500 + Math.floor(Math.random() * 4_500) } }));
}

/** A hub that is open, or opens. */
export interface HubSlot {
  /** Rejects if the log cannot be read; connecting panels wait for it. */
  readonly opening: Promise<Hub>;
  /** Set once open. Only connecting panels wait for `opening`: a slow read for one tenant must not delay the others. */
  hub: Hub | undefined;
  /** Streams that are connected or connecting; the hub is kept while there are any. */
  users: number;
}
