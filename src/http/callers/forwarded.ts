/** What trusted proxies say about a request: the address that it comes from, and the origin that its browser sees. */
import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { addressKey, addressSet, canonicalAddress } from '#core/addresses.ts';

/**
 * Where a request comes from: the socket's address, or behind a trusted proxy the right-most address of
 * `X-Forwarded-For` (or else `Forwarded`) that is not a trusted proxy itself. Addresses further left come from clients and are never
 * trusted. Canonical text; v4-mapped v6 becomes v4.
 */
export function sourceAddressReader(trustedProxies: readonly string[]): (request: IncomingMessage) => string {
  const trusted = trustedProxies.length === 0 ? undefined : addressSet(trustedProxies);
  return (request) => {
    const peer = plain(request.socket.remoteAddress);
    if (!trusted?.(peer)) return peer;
    let source = peer;
    for (const hop of forwardedHops(request).reverse()) {
      const address = canonicalAddress(hop);
      if (address === undefined) break;
      source = address;
      if (!trusted(address)) break;
    }
    return source;
  };
}

function plain(address: string | undefined): string {
  if (address === undefined) return '0.0.0.0';
  return address.startsWith('::ffff:')
    ? address.slice(7)
    : (canonicalAddress(address.split('%')[0] ?? address) ?? address);
}

/** The addresses of the forwarding headers, left to right, without ports and brackets. */
function forwardedHops(request: IncomingMessage): string[] {
  const { forwarded, 'x-forwarded-for': list } = request.headers;
  if (list !== undefined) return [list].flat().join(',').split(',').map(withoutPort);
  if (forwarded === undefined) return [];
  return splitOutsideQuotes(forwarded, ',').map((element) => {
    const pair = splitOutsideQuotes(element, ';').find((part) => /^\s*for=/i.test(part));
    return withoutPort((pair?.split('=')[1] ?? '').trim().replace(/^"(.*)"$/, '$1'));
  });
}

/**
 * Splits from the right: the part of the nearest proxy is well-formed, and a quote that a client left open further left
 * must not swallow it.
 */
function splitOutsideQuotes(text: string, separator: ',' | ';'): string[] {
  const parts: string[] = [];
  let end = text.length;
  let quoted = false;
  for (let i = text.length - 1; i >= 0; i--) {
    if (text[i] === '"' && text[i - 1] !== '\\') quoted = !quoted;
    if (quoted || text[i] !== separator) continue;
    parts.push(text.slice(i + 1, end));
    end = i;
  }
  parts.push(text.slice(0, end));
  return parts.reverse();
}

function withoutPort(hop: string): string {
  const text = hop.trim();
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(text);
  if (bracketed) return bracketed[1] as string;
  return /^[\d.]+:\d+$/.test(text) ? text.slice(0, text.indexOf(':')) : text;
}

/** A whole /64 of IPv6 counts as one caller, because one caller usually has all of it. */
export function networkOf(source: string): string {
  return source.includes(':') ? Buffer.from(addressKey(source).subarray(0, 8)).toString('hex') : source;
}

interface OriginOptions {
  /** The configured address of this server; undefined: the origin is read from each request. */
  readonly baseUrl: string | undefined;
  readonly trustedProxies: readonly string[];
}

interface Origins {
  /** Scheme and host, as in https://belfry.example.org. */
  of(request: FastifyRequest): string;
  /** Whether one of this server's pages sent the request; undefined if no header shows it, for example from a script. */
  isOwn(request: FastifyRequest): boolean | undefined;
}

export function originReader({ baseUrl, trustedProxies }: OriginOptions): Origins {
  const base = baseUrl === undefined ? undefined : new URL(baseUrl).origin;
  const isTrusted = addressSet(trustedProxies);

  const of = (request: FastifyRequest): string => {
    if (base !== undefined) return base;
    const { headers, socket } = request.raw;
    const forwarded = isTrusted(socket.remoteAddress ?? '') ? headers : {};
    const isHttps = last(forwarded['x-forwarded-proto']) === 'https';
    const host = last(forwarded['x-forwarded-host']) ?? headers.host ?? '';
    const origin = `${isHttps ? 'https' : 'http'}://${host}`;
    // A client may send anything as the Host header.
    return URL.canParse(origin) ? new URL(origin).origin : 'http://localhost';
  };

  return {
    of,
    isOwn(request) {
      const { origin, host, 'sec-fetch-site': site } = request.headers;
      // Only the browser sets Sec-Fetch-Site, never a page. It is right even behind a proxy that changes Host.
      if (site === 'same-origin') return true;
      if (site === 'same-site' || site === 'cross-site') return false;
      if (origin === undefined) return undefined;
      return origin === of(request) || (URL.canParse(origin) && new URL(origin).host === host);
    },
  };
}

/** The last value, which is the one that the nearest proxy added. */
function last(header: string | string[] | undefined): string | undefined {
  return [header].flat().at(-1)?.split(',').at(-1)?.trim().toLowerCase();
}
