/** Shuts a server down in order and in bounded time, even if something hangs. */
import { settlesWithin } from './core/concurrency.ts';
import type { Server } from './http/server.ts';
import type { Services } from './http/services.ts';
import type { Logger } from './log.ts';

/** Time reserved for background work and storage, when clients use up the time to drain. */
const closingMs = 1_500;
/** The limit of the whole shutdown, unless clients may take longer: container runtimes kill after ten seconds. */
const leastTotalMs = 9_500;

export interface ShutdownSteps {
  readonly logger: Logger;
  readonly services: Pick<Services, 'tenantStreams' | 'usage'>;
  readonly server: Server;
  /** How long clients have to finish their requests. */
  readonly drainMs: number;
  /** Ends the background work; resolves once none of it runs. */
  stopLoops(): Promise<void>;
  closeMetrics(): Promise<void>;
  closeStorage(withinMs: number): Promise<boolean>;
}

/**
 * Takes no more requests, finishes those under way, says goodbye to panels, and closes the storage. A step that takes too long is
 * abandoned and logged. Returns false when a storage thread hangs: then only a kill ends the process.
 */
export async function shutDown(steps: ShutdownSteps): Promise<boolean> {
  const { logger, services, server, drainMs, stopLoops, closeMetrics, closeStorage } = steps;
  const end = performance.now() + Math.max(leastTotalMs, drainMs + closingMs);
  const leftMs = () => end - performance.now();
  const step = async (what: string, work: Promise<unknown>, withinMs: number) => {
    if (!(await settlesWithin(work, withinMs)))
      logger.warn(`stopping: ${what} took too long and was given up`);
  };
  const closing = server.app.close();
  services.tenantStreams.drain();
  server.closeIdleConnections();
  await settlesWithin(closing, drainMs);
  server.app.server.closeAllConnections();
  services.tenantStreams.close();
  // A hanging disk delays these and the storage. Closing the storage needs most of the remaining time.
  await step('background work', Promise.all([stopLoops(), closeMetrics()]), leftMs() / 4);
  const written = services.usage
    .flush()
    .catch((error: unknown) => logger.warn({ err: error }, 'last uses were not written'));
  await step('writing last uses', written, leftMs() / 4);
  return closeStorage(Math.max(0, leftMs()));
}
