import { ApiError, createCall, createRequest, type Request } from '#client/call.ts';
import { type Client, createClient } from '#client/client.ts';
import { type Role, roles, type Scope } from '#contract/people/token.ts';
import { Failure } from './failure.ts';
import type { Io } from './io.ts';
import { visibleText } from './terminal-text.ts';

/** What a command needs: a scope of a token, or a role, which only an automation key has. */
type Right = Scope | Role;

/** A client for the server and with the token of BELFRY_URL and BELFRY_TOKEN. */
export interface ServerClient {
  readonly url: string;
  /** Runs `work`, and turns errors of the server into messages for people. */
  ask<T>(work: (client: Client, request: Request) => Promise<T>): Promise<T>;
}

export function serverClient(io: Io, right: Right): ServerClient {
  const { url, token } = io.config().client;
  if (token === undefined) {
    const what = isRole(right) ? 'an automation key' : 'a token';
    throw new Failure(`BELFRY_TOKEN is not set: make ${what} with ${createCommand(io, right)}`, 2);
  }
  const client = createClient({ url, token });
  const request = createRequest(createCall({ url, token }));
  return {
    url,
    async ask(work) {
      try {
        return await work(client, request);
      } catch (error) {
        throw serverFailure(error, { io, url, right });
      }
    },
  };
}

/** Turns errors of the client into messages for people; other errors stay as they are. */
function serverFailure(error: unknown, { io, url, right }: { io: Io; url: string; right: Right }): unknown {
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
        `${url} does not know this ${isRole(right) ? 'key' : 'token'}: it is mistyped, expired or revoked; make one with ${createCommand(io, right)}, and set BELFRY_TOKEN`,
      );
    case 403:
      if (error.code === 'tenant.suspended') return new Failure(message);
      return new Failure(
        isRole(right)
          ? `this needs an automation key with the role ${right}: make one with ${createCommand(io, right)}`
          : `this token lacks the ${right} scope: make one with ${createCommand(io, right)}`,
      );
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

const isRole = (right: Right): right is Role => (roles as readonly string[]).includes(right);

const createCommand = (io: Io, right: Right) =>
  isRole(right)
    ? `${io.program} key create --name NAME --role ${right}`
    : `${io.program} token create --name NAME --scopes ${right}`;

/** The system's error code, from the causes of a failed fetch; of several attempts, the first. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return codeOf(error.cause ?? (error instanceof AggregateError ? error.errors[0] : undefined));
}
