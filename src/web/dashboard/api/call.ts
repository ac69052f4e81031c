/** Requests to the server, with the session's cookie, for one tenant. */
import i18next from 'i18next';
import { ApiError, createCall, createRequest, type RequestOptions } from '#client/call.ts';
import type { ErrorCode } from '#contract/errors.ts';

/**
 * Requests for a tenant, or for the person. Anything but a success is thrown as an ApiError; so is an
 * answer that does not arrive in time.
 */
export interface Api {
  get<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T>;
  post<T>(path: string, body?: unknown, options?: Pick<RequestOptions, 'signal' | 'timeoutMs'>): Promise<T>;
  put<T>(path: string, body: unknown): Promise<T>;
  patch<T>(path: string, body: unknown): Promise<T>;
  delete(path: string, body?: unknown): Promise<void>;
  /** The response itself, for streams. */
  open(path: string, query: Query, signal: AbortSignal): Promise<Response>;
  /** A link for the browser, with the tenant in the address. */
  link(path: string, query?: Query): string;
}

export type Query = Readonly<Record<string, string | number | undefined>>;

export function createApi(tenant?: string): Api {
  const call = createCall({
    url: location.origin,
    headers: tenant === undefined ? {} : { 'belfry-tenant': tenant },
  });
  const request = createRequest(call);
  return {
    get: (path, query, signal) => request('GET', path + textOf(query), { signal }),
    post: (path, body, options) => request('POST', path, { ...options, body }),
    put: (path, body) => request('PUT', path, { body }),
    patch: (path, body) => request('PATCH', path, { body }),
    delete: (path, body) => request('DELETE', path, { body }),
    open: (path, query, signal) =>
      call('GET', path + textOf(query), { signal, headers: { accept: 'text/event-stream' } }),
    link: (path, query) => path + textOf({ ...query, tenant }),
  };
}

/** Requests for the person: session, account, tenants. */
export const personApi = createApi();

export const isStatus = (error: unknown, status: number): boolean =>
  error instanceof ApiError && error.status === status;

/**
 * What a page says instead of the server's sentence, which is English: by the field of the body that is wrong (/password), or by the
 * code where that alone says what is wrong.
 */
export type ErrorTexts = Readonly<Partial<Record<ErrorCode | `/${string}`, string>>>;

/** The error as a sentence for the reader. */
export function sentenceOf(error: unknown, texts: ErrorTexts = {}): string {
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error);
  if (error.status === 0) return i18next.t('error.unreachable');
  const general: ErrorTexts = {
    'rate-limited': limitedText(error),
    internal: i18next.t('error.internal'),
  };
  const { pointer } = error.place;
  const text =
    (pointer && texts[pointer as `/${string}`]) ?? { ...general, ...texts }[error.code as ErrorCode];
  // The server begins in lower case. What begins with the name of a field stays as it is.
  return text ?? error.message.replace(/^[a-z](?=[a-z]* )/, (letter) => letter.toUpperCase());
}

function limitedText({ retryAfterSeconds: seconds }: ApiError): string {
  if (seconds === undefined) return i18next.t('error.limited');
  const relative = new Intl.RelativeTimeFormat(i18next.language);
  const time =
    seconds < 60 ? relative.format(seconds, 'second') : relative.format(Math.ceil(seconds / 60), 'minute');
  return i18next.t('error.limitedFor', { time });
}

function textOf(query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  return parameters.size === 0 ? '' : `?${parameters}`;
}
