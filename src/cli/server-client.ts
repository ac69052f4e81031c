import { ApiError } from '#client/call.ts';
import { type Client, createClient } from '#client/client.ts';
import type { Scope } from '#contract/people/token.ts';
import { Failure } from './failure.ts';
import type { Io } from './io.ts';
import { visibleText } from './terminal-text.ts';

/** A client for the server and with the token of BELFRY_URL and BELFRY_TOKEN. */
export interface ServerClient {
  readonly url: string;
  /** Runs `work`, and turns errors of the server into messages for people. */
  ask<T>(work: (client: Client) => Promise<T>): Promise<T>;
}

export function serverClient(io: Io, scope: Scope): ServerClient {
  const { url, token } = io.config().client;
  if (token === undefined) {
    throw new Failure(`BELFRY_TOKEN is not set: make a token with ${tokenCommand(io, scope)}`, 2);
  }
  const client = createClient({ url, token });
  return {
    url,
    async ask(work) {
      try {
        return await work(client);
      } catch (error) {
        throw serverFailure(error, { io, url, scope });
      }
    },
  };
}

/** Turns errors of the client into messages for people; other errors stay as they are. */
function serverFailure(error: unknown, { io, url, scope }: { io: Io; url: string; scope: Scope }): unknown {
  if (!(error instanceof ApiError)) return error;
  const message = visibleText(error.message);
  // The answer of a proxy or of other software says nothing about the token.
  if (error.code === undefined && error.status !== 0)
    return new Failure(`no Belfry answers at ${url} (${message}): check BELFRY_URL`);
  switch (error.status) {
    case 0:
      return new Failure(noAnswer(error, io, url));
    case 401:
      return new Failure(
        `${url} does not know this token: it is mistyped, expired or revoked; make one with ${tokenCommand(io, scope)}, and set BELFRY_TOKEN`,
      );
    case 403:
      if (error.code === 'tenant.suspended') return new Failure(message);
      return new Failure(`this token lacks the ${scope} scope: make one with ${tokenCommand(io, scope)}`);
    case 404:
      return new URL(url).pathname === '/'
        ? error
        : new Failure(`${message}: BELFRY_URL must have no path, as in ${new URL(url).origin}`);
    case 429:
      return new Failure(`${message}: try again in ${error.retryAfterSeconds ?? 1} s`);
    default:
      return error;
  }
}

function noAnswer(error: ApiError, io: Io, url: string): string {
  const start = io.program.startsWith('npm') ? 'npm start' : `${io.program} serve`;
  if (codeOf(error) === 'ERR_SSL_WRONG_VERSION_NUMBER')
    return `${url} does not speak https: set BELFRY_URL to an address with http:`;
  return codeOf(error) === 'ECONNREFUSED'
    ? `no Belfry answers at ${url}: start it with ${start}, or set BELFRY_URL`
    : `${visibleText(error.message)}: check BELFRY_URL`;
}

const tokenCommand = (io: Io, scope: Scope) => `${io.program} token create --name NAME --scopes ${scope}`;

/** The system's error code, from the causes of a failed fetch; of several attempts, the first. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return codeOf(error.cause ?? (error instanceof AggregateError ? error.errors[0] : undefined));
}
