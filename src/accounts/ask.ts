import { LRUCache } from 'lru-cache';
import type { Visit } from '../core/sign-in.ts';
import type { Library, LibraryOptions } from './library.ts';
import { translate } from './library-errors.ts';
import { cookiePrefix } from './session-cookie.ts';

/** Asks the library as a visit's browser; what it refuses is thrown in our words. */
export type Ask = <T>(
  visit: Visit,
  question: (api: Library['api'], headers: Headers) => Promise<T>,
) => Promise<T>;

/** As many names as one server has; more are only what somebody made up in a Host header. */
const maxOrigins = 8;

/** The library is loaded by the first question, and set up once for each origin. */
export function createAsk(options: () => LibraryOptions): Ask {
  const libraries = new LRUCache<string, Promise<Library>>({ max: maxOrigins });
  const library = (origin: string): Promise<Library> => {
    let found = libraries.get(origin);
    if (!found) {
      found = import('./library.ts').then(({ createLibrary }) => createLibrary(options(), origin));
      libraries.set(origin, found);
      found.catch(() => libraries.delete(origin));
    }
    return found;
  };
  return async (visit, question) => {
    const { api } = await library(visit.origin);
    try {
      return await question(api, headersOf(visit));
    } catch (error) {
      throw translate(error);
    }
  };
}

/** Carries the source address to the library's hooks; what the request itself called so is not handed on. */
export const sourceHeader = 'x-belfry-source';

/** Only what the library is meant to see: it believes no other header of the request. */
function headersOf({ cookie, userAgent, source, origin }: Visit): Headers {
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

type OwnCookie = 'session_token' | 'dont_remember';

/** The visit as of a browser that does not have these cookies: a sign-in begins with none of what was before. */
export function without(visit: Visit, ...names: readonly OwnCookie[]): Visit {
  const full = names.map((name) => `${cookieName(visit, name)}=`);
  const kept = visit.cookie
    ?.split(';')
    .filter((pair) => !full.some((name) => pair.trimStart().startsWith(name)));
  return { ...visit, cookie: kept?.join(';') };
}

/** Takes a cookie from the browser. */
export function expired(visit: Visit, name: OwnCookie): string {
  const secure = visit.origin.startsWith('https:') ? '; Secure' : '';
  return `${cookieName(visit, name)}=; Max-Age=0; Path=/; HttpOnly${secure}; SameSite=Lax`;
}

function cookieName({ origin }: Visit, name: OwnCookie): string {
  return `${cookiePrefix(origin.startsWith('https:'))}.${name}`;
}
