import type { IncomingHttpHeaders, IncomingMessage, Server } from 'node:http';
import { parseSecret } from '#core/people/secrets.ts';
import { findEmail } from '#core/people/sign-in-fields.ts';

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

/** The account of a person, as the user and password of basic authentication. */
export interface BasicAccount {
  readonly email: string;
  readonly password: string;
  /** The name of a tenant, if it is before the address, as in acme/ann@example.org. */
  readonly tenant: string | undefined;
}

/** undefined if the user is no email address, or the password is a token or key. */
export function accountOf({ authorization = '' }: IncomingHttpHeaders): BasicAccount | undefined {
  const [, value] = /^basic +(\S+) *$/i.exec(authorization) ?? [];
  if (value === undefined) return undefined;
  const [user = '', ...rest] = textOf(Buffer.from(value, 'base64')).split(':');
  const password = rest.join(':');
  const [, tenant, address = ''] = /^(?:([^/]*)\/)?(.*)$/s.exec(user) ?? [];
  const email = findEmail(address);
  if (email === undefined || password === '' || parseSecret(password)) return undefined;
  return { email, password, tenant: tenant?.trim().toLowerCase() };
}

/** Some clients send UTF-8, and others, as the Android app of Gotify, Latin-1. */
function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return bytes.toString('latin1');
  }
}

/** Tokens in URLs, as `?token=…`, for senders that cannot set a header. */

const tokens = new WeakMap<IncomingMessage, string>();

/** The token that {@link takeUrlTokens} has taken out of the URL. */
export const urlTokenOf = (request: IncomingMessage): string | undefined => tokens.get(request);

/** Takes the token out of the URL of each request, so that nothing that logs, traces, stores or repeats a URL has it. */
export function takeUrlTokens(server: Server): void {
  server.prependListener('request', (request: IncomingMessage) => {
    const { url, token } = splitUrlToken(request.url ?? '');
    request.url = url;
    if (token !== undefined) tokens.set(request, token);
  });
}

/** The URL without its parameters `token`, and the token. There is none if the parameter occurs twice or is encoded wrongly. */
export function splitUrlToken(url: string): { readonly url: string; readonly token: string | undefined } {
  const [, path = '', query = '', rest = ''] = /^([^?#]*)\?([^#]*)(.*)$/s.exec(url) ?? [];
  if (!query.includes('token=')) return { url, token: undefined };
  const parameters = query.split('&');
  const [token, second] = parameters.filter(isToken);
  const others = parameters.filter((each) => !isToken(each)).join('&');
  return {
    url: path + (others === '' ? '' : `?${others}`) + rest,
    token: second === undefined ? decode(token?.slice('token='.length)) : undefined,
  };
}

function decode(value: string | undefined): string | undefined {
  try {
    return value && decodeURIComponent(value);
  } catch {
    return undefined;
  }
}

const isToken = (parameter: string) => parameter.startsWith('token=');
