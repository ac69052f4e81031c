import { LRUCache } from 'lru-cache';
import type { Visit } from '#core/sign-in.ts';
import type { Library, LibraryOptions } from './library.ts';
import { translate } from './library-errors.ts';
import { headersOf } from './visit-headers.ts';

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
