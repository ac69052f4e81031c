/** The origin (scheme and host) of this server as the browser sees it, and whether a request comes from its own pages. */
import type { FastifyRequest } from 'fastify';
import { addressSet } from '#core/addresses.ts';

export interface OriginOptions {
  /** The configured address of this server; undefined: the origin is read from each request. */
  readonly baseUrl: string | undefined;
  readonly trustedProxies: readonly string[];
}

export interface Origins {
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
