/** The API that a command works with: of a running server, by a key, or of the database itself. */
import { ApiError } from '#client/api-error.ts';
import { pause } from '#client/backoff.ts';
import { type CallerOptions, type CallOptions, createCall, jsonOf, withTimeLimit } from '#client/call.ts';
import { actor, withDatabase } from '../administration.ts';
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
  { tenant }: ConnectionOptions,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const config = io.config();
  const { url, token } = config.client;
  if (token === undefined) {
    const { openLocalApi, createLogger } = await import('#app.ts');
    return withDatabase(config, async () => {
      const api = await openLocalApi(config, createLogger({ level: 'silent', format: 'json' }), {
        tenant: tenant ?? 'default',
        actor,
      });
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
  const call = createCall(options);
  const once = <T>(method: string, path: string, more: CallOptions) =>
    withTimeLimit(path.endsWith('/replay') ? replayMs : requestMs, undefined, async (signal) => {
      const response = await call(method, path, { ...more, signal });
      return response.status === 204 ? (undefined as T) : jsonOf<T>(response);
    });
  return {
    async request<T>(method: string, path: string, body?: unknown): Promise<T> {
      for (let waits = 0; ; waits += 1) {
        try {
          return await once<T>(method, path, body === undefined ? {} : { body });
        } catch (error) {
          const isBusy = error instanceof ApiError && (error.status === 429 || error.status === 503);
          if (!isBusy || error.retryAfterSeconds === undefined || waits === maxWaits) throw error;
          await pause(error.retryAfterSeconds * 1_000, undefined);
        }
      }
    },
  };
}

function serverFailure(error: unknown, url: string, make: string): unknown {
  if (!(error instanceof ApiError)) return error;
  if (error.status === 0) return new Failure(`${visibleText(error.message)}: check BELFRY_URL`);
  if (error.code === 'unauthorized')
    return new Failure(
      `${url} does not know this key: it is mistyped, expired or revoked; make one with ${make}`,
    );
  if (error.code === 'forbidden')
    return new Failure(`this key's role may not do this: make a key with ${make}`);
  return error;
}
