import type { Command } from 'commander';
import type { Config, createLogger, RunningServer } from '#app.ts';
import { databaseFailure, Failure } from './failure.ts';
import { databaseName, firstSteps } from './first-steps.ts';
import type { Io } from './io.ts';

/**
 * npm passes one Ctrl-C on more than once; a signal later than this is a second key press.
 */
const samePressMs = 500;

/** `belfry serve`: the server, until it is told to stop. */
export function addServe(program: Command, io: Io): void {
  program
    .command('serve')
    .summary('start the server')
    .description('start the server; settings come from the environment, see config --explain')
    .addHelpText('after', `\nExample:\n  BELFRY_PORT=9000 ${io.program} serve`)
    .action(async () => {
      const config = io.config();
      const stop = stopSignal(io);
      const { startServer, StoppedEarly, createLogger } = await import('#app.ts');
      const logger = createLogger(config.log);
      logger.info({ version: io.build, node: process.version }, 'starting');
      for (const warning of config.warnings) logger.warn(`settings: ${warning}`);
      let server: RunningServer;
      try {
        server = await startServer(config, logger, stop);
      } catch (error) {
        if (error instanceof StoppedEarly) return logger.info(error.message);
        throw startFailure(error, config);
      }
      io.stdout.write(
        firstSteps({
          url: reachable(server.url),
          config,
          env: io.env,
          program: io.program,
          version: io.version,
          setUpSecret: server.setUpSecret,
        }),
      );
      logger.info({ url: server.url, database: databaseName(config), version: io.version }, 'ready');
      await serveUntil(stop, server, { logger, kill: () => io.kill() });
    });
}

interface Ending {
  readonly logger: Pick<ReturnType<typeof createLogger>, 'info' | 'error' | 'fatal'>;
  readonly kill: () => void;
}

/**
 * Waits for `stop`, then stops the server. If it hangs, the process is killed.
 * @throws Failure when the server could not go on.
 */
export async function serveUntil(
  stop: Promise<void>,
  server: Pick<RunningServer, 'failed' | 'stop'>,
  { logger, kill }: Ending,
): Promise<void> {
  const failure = await Promise.race([stop, server.failed]);
  if (failure) logger.fatal({ err: failure }, 'stopping: the thread that writes to the database ended');
  else logger.info('stopping: finishing what was begun; a second signal ends it at once');
  if (!(await server.stop())) {
    logger.error('stopped, but the disk or a search hangs: the process is killed');
    kill();
  }
  if (failure) throw new Failure('the thread that writes to the database ended: start the server again');
  logger.info('stopped');
}

/** Resolves at the first signal; a second one ends the process. */
function stopSignal(io: Io): Promise<void> {
  return new Promise((done) => {
    let first: number | undefined;
    io.onSignal(() => {
      const now = performance.now();
      first ??= now;
      done();
      if (now - first > samePressMs) io.kill();
    });
  });
}

/** A server that listens on all addresses is reached on loopback. */
function reachable(url: string): string {
  const { protocol, hostname, port } = new URL(url);
  const host = hostname === '0.0.0.0' ? '127.0.0.1' : hostname === '[::]' ? '[::1]' : hostname;
  return `${protocol}//${host}${port === '' ? '' : `:${port}`}`;
}

function startFailure(error: unknown, { host, port, database }: Config): unknown {
  if (!(error instanceof Error)) return error;
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') {
    return new Failure(`port ${port} is taken: end what listens there, or set BELFRY_PORT to another`);
  }
  if (syscall === 'listen' && code === 'EACCES') {
    return new Failure(`this user may not listen on port ${port}: set BELFRY_PORT to one above 1023`);
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return new Failure(
      `this machine has no address ${host}: set BELFRY_HOST to one it has, or to 0.0.0.0 for all`,
      2,
    );
  }
  return databaseFailure(error, database);
}
