/** The API that a command works with: of a running server, by a key, or of the database itself. */
import { ApiError, type CallerOptions, createCall, createRequest } from '#client/call.ts';
import { pause } from '#client/timing.ts';
import {
  actor,
  type DatabaseUse,
  isInNewDatabase,
  withOwnDatabase,
} from '../administration/administration.ts';
import { Failure } from '../failure.ts';
import type { Io } from '../io.ts';
import { visibleText } from '../terminal-text.ts';

export interface Connection {
  /** The answer's JSON; undefined for an answer without a body. Waits when the server asks for it. */
  request<T>(method: string, path: string, body?: unknown): Promise<T>;
}

export interface ConnectionOptions {
  /** undefined when it was not given. */
  readonly tenant?: string | undefined;
}

const requestMs = 60_000;
/** A replay of a busy day takes a while. */
const replayMs = 600_000;
/** How often a request is repeated when the server asks to come back later. */
const maxWaits = 60;

/** Runs `work` with the server and key of BELFRY_URL and BELFRY_TOKEN, or, without a token, on the database. */
export async function withConnection<T>(
  io: Io,
  { tenant, makes }: ConnectionOptions & DatabaseUse,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const { url, token } = io.config().client;
  if (token === undefined) {
    const { openLocalApi, createLogger } = await import('#server/app.ts');
    const name = tenant ?? 'default';
    const use = { makes: makes && isInNewDatabase(name) };
    return withOwnDatabase(io, use, async (config) => {
      const logger = createLogger({ level: 'silent', format: 'json' });
      const api = await openLocalApi(config, logger, { tenant: name, actor, ...use });
      if (!api) throw new Failure(`there is no tenant "${tenant}": ${io.program} tenant list shows all`);
      try {
        return await work(connect({ url: 'http://localhost', token: api.token, fetch: api.fetch }));
      } finally {
        await api.close();
      }
    });
  }
  if (tenant !== undefined)
    throw new Failure(
      'BELFRY_TOKEN decides on the tenant: leave --tenant out, or unset BELFRY_TOKEN to work on the database itself',
      2,
    );
  const make = `${io.program} key create --role admin --name NAME`;
  if (!token.startsWith('bfk_'))
    throw new Failure(`BELFRY_TOKEN is no automation key: make one with ${make}`, 2);
  try {
    return await work(connect({ url, token }));
  } catch (error) {
    throw serverFailure(error, url, make);
  }
}

function connect(options: CallerOptions): Connection {
  const once = createRequest(createCall(options), requestMs);
  return {
    async request<T>(method: string, path: string, body?: unknown): Promise<T> {
      for (let waits = 0; ; waits += 1) {
        try {
          return await once<T>(method, path, {
            body,
            ...(path.endsWith('/replay') && { timeoutMs: replayMs }),
          });
        } catch (error) {
          const isBusy = error instanceof ApiError && (error.status === 429 || error.status === 503);
          if (!isBusy || error.retryAfterSeconds === undefined || waits === maxWaits) throw error;
          await pause(error.retryAfterSeconds * 1_000);
        }
      }
    },
  };
}

function serverFailure(error: unknown, url: string, make: string): unknown {
  if (!(error instanceof ApiError)) return error;
  const message = visibleText(error.message);
  if (error.status === 0) return new Failure(`${message}: check BELFRY_URL`);
  if (error.code === undefined)
    return new Failure(`no Belfry answers at ${url} (${message}): check BELFRY_URL`);
  if (error.code === 'unauthorized')
    return new Failure(
      `${url} does not know this key: it is mistyped, expired or revoked; make one with ${make}`,
    );
  if (error.code === 'forbidden')
    return new Failure(`this key's role may not do this: make a key with ${make}`);
  return error;
}
