/** The one client for connections that the server itself makes over HTTP, SMTP and MQTT. */
import type { IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import {
  type AddressGuard,
  assertLiteralAllowed,
  createAddressGuard,
  createLookupQueue,
  createSingleFlight,
  guardedLookup,
  type Owner,
} from './addresses.ts';

export interface OutboundRequest {
  readonly url: string;
  readonly method?: 'GET' | 'POST' | 'PATCH';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** A binary body. */
  readonly bytes?: Uint8Array;
}

export interface OutboundResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The beginning of the body, at most `maxBytes`. */
  readonly body: string;
}

export interface OutboundOptions {
  /** For the whole request, its answer included. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  readonly maxBytes?: number;
}

interface OutboundEndpoint {
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
}

export interface Outbound {
  /**
   * Does not follow redirects.
   * @throws ForbiddenAddress; Error when there is no answer in time.
   */
  request(request: OutboundRequest, options: OutboundOptions): Promise<OutboundResponse>;
  /** Opens a connection, with TLS if `isSecure`. @throws as {@link request}. */
  connect(endpoint: OutboundEndpoint, options: Omit<OutboundOptions, 'maxBytes'>): Promise<Socket>;
}

const usualMaxBytes = 64 * 1024;

/** For addresses that tenants enter: connects only to public addresses, and to those that the operator allows. */
export const createOutbound = (allow: readonly string[]): Outbound => outboundWith(createAddressGuard(allow));

/** As {@link createOutbound}, for each owner: slow names of one owner do not delay the lookups of others. */
export function createOutbounds(allow: readonly string[]): (owner: Owner) => Outbound {
  const guard = createAddressGuard(allow);
  const [queue, singleFlight] = [createLookupQueue(), createSingleFlight()];
  return (owner) => outboundWith(guard, guardedLookup(guard, undefined, queue(owner), singleFlight(owner)));
}

/** For addresses that the operator configured: connects to every address. */
export const createTrustedOutbound = (): Outbound => outboundWith(undefined);

function outboundWith(guard: AddressGuard, lookup = guardedLookup(guard)): Outbound {
  return {
    async request(
      { url: text, method = 'GET', headers = {}, body: written, bytes },
      { maxBytes = usualMaxBytes, ...options },
    ) {
      const url = new URL(text);
      const body = bytes ?? written;
      assertLiteralAllowed(url.hostname, guard);
      // Imported when first needed, to save memory on an idle server.
      const { request } = url.protocol === 'https:' ? await import('node:https') : await import('node:http');
      return inTime(
        options,
        (signal) =>
          new Promise<OutboundResponse>((resolve, reject) => {
            const sent = request(
              url,
              {
                ...{ method, lookup, signal, agent: false },
                headers: {
                  'user-agent': 'belfry',
                  ...headers,
                  ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
                },
              },
              (response) => readAnswer(response, maxBytes).then(resolve, reject),
            );
            // Without a listener, Node ends such a request in silence.
            sent.once('upgrade', (_response, socket) => {
              socket.destroy();
              reject(new Error('the receiver answered 101'));
            });
            sent.on('error', reject);
            sent.end(body);
          }),
      );
    },

    async connect({ host, port, isSecure }, options) {
      assertLiteralAllowed(host, guard);
      const [{ connect }, tls] = await Promise.all([import('node:net'), import('node:tls')]);
      return inTime(
        options,
        (signal) =>
          new Promise<Socket>((resolve, reject) => {
            const to = { host, port, lookup };
            const socket = isSecure
              ? tls.connect({ ...to, ...(isIP(host) === 0 && { servername: host }) })
              : connect(to);
            const abort = () => socket.destroy(signal.reason as Error);
            signal.addEventListener('abort', abort, { once: true });
            // Not removed: an error before the caller listens must not end the server.
            socket.on('error', reject);
            socket.once(isSecure ? 'secureConnect' : 'connect', () => {
              signal.removeEventListener('abort', abort);
              resolve(socket);
            });
            if (signal.aborted) abort();
          }),
      );
    },
  };
}

type TimeLimit = Omit<OutboundOptions, 'maxBytes'>;

export function deadline({ timeoutMs, signal }: TimeLimit): AbortSignal {
  const timeout = AbortSignal.timeout(timeoutMs);
  return signal ? AbortSignal.any([timeout, signal]) : timeout;
}

/** Rejects at the {@link deadline}, whose signal `work` gets, because a destroyed connection may report nothing. */
export async function inTime<T>(limit: TimeLimit, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const signal = deadline(limit);
  let onAbort = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work(signal), aborted]);
  } catch (error) {
    const { name, cause } = error as Error;
    const isTimeout = name === 'TimeoutError' || (cause as Error | undefined)?.name === 'TimeoutError';
    throw isTimeout ? new Error(`no answer within ${limit.timeoutMs / 1000} s`) : plainConnectionError(error);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Reads to the end, but at most `maxBytes`. */
async function readAnswer(response: IncomingMessage, maxBytes: number): Promise<OutboundResponse> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    parts.push(part);
    size += part.length;
    if (size >= maxBytes) break;
  }
  response.destroy();
  const body = Buffer.concat(parts).subarray(0, maxBytes).toString('utf8');
  return { status: response.statusCode ?? 0, headers: response.headers, body };
}

interface NodeError extends Error {
  /** A number where another library made the error. */
  readonly code?: unknown;
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
  readonly errors?: readonly NodeError[];
}

/** An error of Node with a sentence for people, and the original as its cause; any other error is returned as it is. */
export function plainConnectionError(error: unknown): unknown {
  // One error for each address of a name.
  const known = ((error as NodeError).errors?.[0] ?? error) as NodeError;
  const sentence = sentenceOf(known);
  return sentence === undefined ? error : new Error(sentence, { cause: error });
}

function sentenceOf({ code, address, port, hostname, message }: NodeError): string | undefined {
  if (typeof code !== 'string') return undefined;
  const host = address?.includes(':') ? `[${address}]` : address;
  const target = host === undefined ? 'the receiver' : `${host}${port === undefined ? '' : `:${port}`}`;
  if (code.startsWith('HPE_')) return 'the answer is not HTTP';
  switch (code) {
    case 'ECONNREFUSED':
      return `${target} refused the connection`;
    case 'ETIMEDOUT':
      return `${target} did not answer`;
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `${target} cannot be reached: there is no route to it`;
    case 'ENOTFOUND':
      return `the name ${hostname} does not exist`;
    case 'EAI_AGAIN':
      return `the name ${hostname} cannot be resolved at the moment`;
    case 'ECONNRESET':
    case 'EPIPE':
      return message.includes('before secure TLS')
        ? 'the receiver closed the connection before TLS began'
        : 'the receiver closed the connection before it answered';
    case 'EPROTO':
      return message.includes('wrong version number')
        ? 'the receiver does not use TLS on this port'
        : 'TLS failed: the receiver and this server agree on no version or cipher';
    default:
      return certificateProblems[code] && `the receiver's certificate ${certificateProblems[code]}`;
  }
}

/** https://nodejs.org/api/tls.html#x509-certificate-error-codes */
const certificateProblems: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'has expired',
  CERT_NOT_YET_VALID: 'is not valid yet',
  CERT_REVOKED: 'is revoked',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'is self-signed',
  ERR_TLS_CERT_ALTNAME_INVALID: 'is for another host name',
  SELF_SIGNED_CERT_IN_CHAIN: 'is from an authority that is not trusted here',
  UNABLE_TO_GET_ISSUER_CERT: 'is from an authority that is not trusted here',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'is from an authority that is not trusted here',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'is from an authority that is not trusted here',
};
