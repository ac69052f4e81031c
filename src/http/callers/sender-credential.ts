import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';

/** Headers in which senders put a token by itself. */
const ownHeaders = ['x-gotify-key', 'x-gitlab-token'] as const;

/**
 * A sender's token as `Authorization: Bearer` would carry it: it may also be the password of basic authentication, or its user
 * where there is no password, or the value of a header of the sender's own. Other headers are returned unchanged.
 */
export function bearerOf(headers: IncomingHttpHeaders): string | undefined {
  const { authorization } = headers;
  if (authorization === undefined) {
    const token = ownHeaders.map((name) => headers[name]).find((value) => value !== undefined);
    return typeof token === 'string' ? `Bearer ${token.trim()}` : undefined;
  }
  const [, scheme = '', value = ''] = /^(basic|geniekey) +(\S+) *$/i.exec(authorization) ?? [];
  if (scheme === '') return authorization;
  if (scheme.toLowerCase() === 'geniekey') return `Bearer ${value}`;
  const [user = '', ...rest] = Buffer.from(value, 'base64').toString('latin1').split(':');
  return `Bearer ${rest.join(':') || user}`;
}

/** As {@link bearerOf}; without a header it is the parameter `token` of the URL, as clients of Gotify send it. */
export function bearerOrUrlToken({
  headers,
  url,
}: Pick<FastifyRequest, 'headers' | 'url'>): string | undefined {
  const bearer = bearerOf(headers);
  if (bearer !== undefined) return bearer;
  const [token, second] = queryOf(url).getAll('token');
  return token === undefined || second !== undefined ? undefined : `Bearer ${token}`;
}

/** Whether the URL has a credential in one of the parameters in which senders put it. */
export const hasUrlToken = (url: string): boolean => {
  const query = queryOf(url);
  return query.has('token') || query.has('auth');
};

const queryOf = (url: string) => new URLSearchParams(/^[^?#]*\?([^#]*)/.exec(url)?.[1] ?? '');
