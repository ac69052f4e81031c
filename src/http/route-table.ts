import type { FastifySchema, RouteOptions } from 'fastify';
import type { Policy } from '#core/people/access.ts';
import type { App } from './services.ts';

export interface RouteEntry {
  readonly method: string;
  readonly url: string;
  readonly policy: Policy;
  readonly schema: FastifySchema | undefined;
}

/** More than any route has. */
const mostSegments = 10;

/** All routes of the server. A route without a policy is an error at the start, so that none is open by mistake. */
export class RouteTable {
  readonly #routes: RouteOptions[] = [];
  #entries: readonly RouteEntry[] = [];
  #fixedPaths: readonly string[] | undefined;
  #patterns: readonly { readonly pattern: RegExp; readonly method: string }[] | undefined;

  constructor(app: App) {
    app.addHook('onRoute', (route) => void this.#routes.push(route));
  }

  /** The routes of the API, as they were declared. */
  get described(): readonly RouteOptions[] {
    return this.#routes.filter(({ method, schema }) => method !== 'HEAD' && schema?.hide !== true);
  }

  /**
   * All routes except HEAD, which is GET without the body.
   * @throws Error naming the first route that declares no policy. Call it once all routes are there.
   */
  seal(): readonly RouteEntry[] {
    this.#entries = this.#routes.flatMap(({ method, url, config, schema }) =>
      [method].flat().map((each) => {
        if (config?.policy === undefined)
          throw new Error(`the route ${each} ${url} declares no policy: say who may call it`);
        return { method: each, url, policy: config.policy, schema };
      }),
    );
    return this.#entries.filter(({ method }) => method !== 'HEAD');
  }

  /**
   * The path without parameters, of a described route or one of `others`, that has the most first segments of this path: the one that
   * this path continues, or else the shortest, of those that senders may call if there are any; undefined if none has more than
   * the first segment of the API.
   */
  nearestTo(path: string, others: readonly string[]): string | undefined {
    this.#fixedPaths ??= this.#findFixedPaths(others);
    const segments = path.split('/', mostSegments);
    for (let count = segments.length; count > 1; count--) {
      const start = segments.slice(0, count).join('/');
      if (start === '/api') return undefined;
      const found = this.#fixedPaths.find((each) => each === start || each.startsWith(`${start}/`));
      if (found) return found;
    }
    return undefined;
  }

  /** Those that senders may call first, then the shortest first. */
  #findFixedPaths(others: readonly string[]): string[] {
    const fixed = this.described.filter(({ url }) => !/[:*]/.test(url));
    const ofSenders = new Set(
      fixed
        .filter(({ config }) => typeof config?.policy === 'object' && config.policy.scope === 'notify')
        .map(({ url }) => url),
    );
    return [...new Set([...fixed.map(({ url }) => url), ...others])].sort(
      (a, b) => Number(ofSenders.has(b)) - Number(ofSenders.has(a)) || a.length - b.length,
    );
  }

  /** The methods of a path, for `Allow`; empty when there is no such path. */
  methodsFor(path: string): string[] {
    this.#patterns ??= this.#entries.map(({ method, url }) => ({ method, pattern: patternOf(url) }));
    return [
      ...new Set(this.#patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)),
    ].sort();
  }
}

function patternOf(url: string): RegExp {
  const escaped = url
    .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
    .replace(/:[A-Za-z]+/g, '[^/]+')
    .replaceAll('*', '.*');
  return new RegExp(`^${escaped}$`);
}
