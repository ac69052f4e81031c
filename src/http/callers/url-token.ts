/** Tokens in URLs, as `?token=…`, for senders that cannot set a header. */
import type { IncomingMessage, Server } from 'node:http';

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
