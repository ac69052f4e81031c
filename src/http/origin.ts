/** Under which address a browser sees this server, and whether a request comes from its own pages. */
import type { FastifyRequest } from 'fastify';
import { addressSet } from './source-address.ts';

export interface OriginOptions {
  /** Where people reach this server; undefined: where the request says. */
  readonly baseUrl: string | undefined;
  readonly trustedProxies: readonly string[];
}

export interface Origins {
  /** Scheme and host, as in https://belfry.example.org. */
  of(request: FastifyRequest): string;
  /** Whether a page of ours sent it; undefined when nothing tells, as from a script. */
  isOwn(request: FastifyRequest): boolean | undefined;
}

export function originReader({ baseUrl, trustedProxies }: OriginOptions): Origins {
  const base = baseUrl === undefined ? undefined : new URL(baseUrl).origin;
  const trusted = trustedProxies.length === 0 ? () => false : addressSet(trustedProxies);

  const of = (request: FastifyRequest): string => {
    if (base !== undefined) return base;
    const { headers, socket } = request.raw;
    const peer = socket.remoteAddress?.replace(/^::ffff:/, '') ?? '';
    const forwarded = trusted(peer) ? headers : {};
    const isHttps = last(forwarded['x-forwarded-proto']) === 'https';
    const host = last(forwarded['x-forwarded-host']) ?? headers.host ?? '';
    const origin = `${isHttps ? 'https' : 'http'}://${host}`;
    // Whatever stands in a Host header: it becomes a URL, or none.
    return URL.canParse(origin) ? new URL(origin).origin : 'http://localhost';
  };

  return {
    of,
    isOwn(request) {
      const { origin, host, 'sec-fetch-site': site } = request.headers;
      // A browser sets this itself, and no page can; behind a proxy that changes Host it is the only one that is right.
      if (site === 'same-origin') return true;
      if (site === 'same-site' || site === 'cross-site') return false;
      if (origin === undefined) return undefined;
      return origin === of(request) || (URL.canParse(origin) && new URL(origin).host === host);
    },
  };
}

/** What the nearest proxy wrote. */
function last(header: string | string[] | undefined): string | undefined {
  return [header].flat().at(-1)?.split(',').at(-1)?.trim().toLowerCase();
}
