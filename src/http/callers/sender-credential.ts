import type { IncomingHttpHeaders } from 'node:http';

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
