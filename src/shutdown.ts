/** The end of a running server: in order, and in bounded time whatever hangs. */
import { settlesWithin } from './core/settles-within.ts';
import type { Server } from './http/server.ts';
import type { Services } from './http/services.ts';
import type { Logger } from './log.ts';

/** What is kept for ending the background work and the storage, when clients take all of the time to drain. */
const closingMs = 1_500;
/** The end of the whole, unless clients may take longer: container runtimes kill after ten seconds. */
const leastTotalMs = 9_500;

export interface ShutdownSteps {
  readonly logger: Logger;
  readonly services: Pick<Services, 'tenantStreams' | 'usage'>;
  readonly server: Server;
  /** How long clients have for what they began. */
  readonly drainMs: number;
  /** Ends the background work; resolves once none of it runs. */
  stopLoops(): Promise<void>;
  closeMetrics(): Promise<void>;
  closeStorage(withinMs: number): Promise<boolean>;
}

/**
 * Takes no more requests, finishes those under way, says goodbye to panels, and closes the storage. A step that takes
 * too long is given up, with a line in the log. Answers false when a storage thread hangs: then only a kill ends the process.
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
  // A hanging disk delays these and the storage; closing the storage needs most of the time that is left.
  await step('background work', Promise.all([stopLoops(), closeMetrics()]), leftMs() / 4);
  const written = services.usage
    .flush()
    .catch((error: unknown) => logger.warn({ err: error }, 'last uses were not written'));
  await step('writing last uses', written, leftMs() / 4);
  return closeStorage(Math.max(0, leftMs()));
}
