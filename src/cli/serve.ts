import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Config, createLogger, RunningServer } from '#server/app.ts';
import { databaseFailure, Failure } from './failure.ts';
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
      const { startServer, StoppedEarly, createLogger } = await import('#server/app.ts');
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

interface FirstStepsOptions extends Pick<Io, 'env' | 'program' | 'version'> {
  /** Where the server is reached from this machine. */
  readonly url: string;
  readonly config: Config;
  /** While there is no account. */
  readonly setUpSecret: string | undefined;
}

const usualUrl = 'http://127.0.0.1:8080';

/** The message of a server that is ready: its URL, and commands to try in another terminal. */
export function firstSteps({ url, config, env, program, version, setUpSecret }: FirstStepsOptions): string {
  const database = env.BELFRY_DATABASE_URL ? `BELFRY_DATABASE_URL=${quoted(databaseSetting(config))} ` : '';
  const at = url === usualUrl ? '' : `BELFRY_URL=${url} `;
  const second = program.startsWith('npm') ? 'a second terminal, in this folder' : 'a second terminal';
  const base = config.baseUrl ?? url;
  const setUp = setUpSecret === undefined ? '' : `  Set up: ${base}/setup#${setUpSecret}\n\n`;
  return `
  Belfry ${version} is ready at ${base}

${setUp}  Watch a panel, in ${second}:

    export BELFRY_TOKEN=$(${database}${program} token create --name desk)
    ${at}${program} tail

  Send to it, in a third:

    TOKEN=$(${database}${program} token create --name curl)
    curl ${url}/api/notify -H "Authorization: Bearer $TOKEN" \\
      -d '{"title": "Hello", "message": "It works.", "level": "success"}'

  Docs: ${url}/docs
  Data: ${databaseName(config)}
  Stop: Ctrl-C

`;
}

/** Where the data is, without a password. */
function databaseName({ database }: Config): string {
  if (database.kind === 'sqlite') return resolve(database.path);
  const { protocol, host, pathname } = new URL(database.url);
  return `${protocol}//${host}${pathname}`;
}

/** For commands in any folder. A password is replaced by asterisks; the reader must fill it in. */
function databaseSetting({ database }: Config): string {
  if (database.kind === 'sqlite') return `sqlite:${resolve(database.path)}`;
  const url = new URL(database.url);
  if (url.password) url.password = '********';
  return url.href;
}

/** For a shell. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
