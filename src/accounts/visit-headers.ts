/** A visit as the library is told of it, and its cookies. */
import type { Visit } from '#core/sign-in.ts';
import { cookieName, type SignedCookie } from './session-cookie.ts';

/** Carries the source address to the library's hooks; what the request itself called so is not handed on. */
export const sourceHeader = 'x-belfry-source';

/** Only what the library is meant to see: it believes no other header of the request. */
export function headersOf({ cookie, userAgent, source, origin }: Visit): Headers {
  const headers = new Headers({ origin, [sourceHeader]: source });
  if (cookie !== undefined) headers.set('cookie', wellNamed(cookie));
  if (userAgent !== undefined) headers.set('user-agent', userAgent);
  return headers;
}

/**
 * The cookies but those with a blank before "=", which no browser sends: the library takes the blank off, and would see a
 * session where everybody else here sees none, or another.
 */
function wellNamed(cookie: string): string {
  const pairs = cookie.split(';');
  return pairs.filter((pair) => !/^[^=]*\s=/.test(pair)).join(';');
}

/** The visit as of a browser that does not have these cookies: a sign-in begins with none of what was before. */
export function without(visit: Visit, ...names: readonly SignedCookie[]): Visit {
  const full = names.map((name) => `${cookieName(visit.origin, name)}=`);
  const kept = visit.cookie
    ?.split(';')
    .filter((pair) => !full.some((name) => pair.trimStart().startsWith(name)));
  return { ...visit, cookie: kept?.join(';') };
}
