/** How the dashboard speaks to its server: with the session's cookie, for one tenant at a time. */
import { ApiError } from '#client/api-error.ts';
import { type CallOptions, createCall, jsonOf, withTimeLimit } from '#client/call.ts';

/**
 * One request for a tenant (or for the person, without one). Anything but a success is thrown as an ApiError; so is an
 * answer that is not there in time.
 */
export interface Api {
  get<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T>;
  post<T>(path: string, body?: unknown, options?: PostOptions): Promise<T>;
  put<T>(path: string, body: unknown): Promise<T>;
  patch<T>(path: string, body: unknown): Promise<T>;
  delete(path: string, body?: unknown): Promise<void>;
  /** The answer itself, for streams. */
  open(path: string, query: Query, signal: AbortSignal): Promise<Response>;
  /** A link that the browser follows by itself: it names the tenant in the address. */
  link(path: string, query?: Query): string;
}

export interface PostOptions {
  readonly signal?: AbortSignal;
  /** For what may take longer than others. */
  readonly timeoutMs?: number;
}

/** The longest wait for a whole answer. */
const usualTimeoutMs = 15_000;

export type Query = Readonly<Record<string, string | number | undefined>>;

export function createApi(tenant?: string): Api {
  const call = createCall({
    url: location.origin,
    headers: tenant === undefined ? {} : { 'belfry-tenant': tenant },
  });
  const ask = <T>(method: string, path: string, options: CallOptions & PostOptions = {}): Promise<T> => {
    const { signal, timeoutMs = usualTimeoutMs, ...rest } = options;
    return withTimeLimit(timeoutMs, signal, async (limited) => {
      const response = await call(method, path, { ...rest, signal: limited });
      return response.status === 204 ? (undefined as T) : jsonOf<T>(response);
    });
  };
  return {
    get: (path, query, signal) => ask('GET', path + textOf(query), signal && { signal }),
    post: (path, body, options) => ask('POST', path, { ...options, ...(body !== undefined && { body }) }),
    put: (path, body) => ask('PUT', path, { body }),
    patch: (path, body) => ask('PATCH', path, { body }),
    delete: (path, body) => ask('DELETE', path, body === undefined ? {} : { body }),
    open: (path, query, signal) =>
      call('GET', path + textOf(query), { signal, headers: { accept: 'text/event-stream' } }),
    link: (path, query) => path + textOf({ ...query, tenant }),
  };
}

/** The person's own calls: session, account, tenants. */
export const personApi = createApi();

export const isStatus = (error: unknown, status: number): boolean =>
  error instanceof ApiError && error.status === status;

/** The sentence to show for whatever was thrown. */
export const sentenceOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

function textOf(query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  return parameters.size === 0 ? '' : `?${parameters}`;
}
