/** The path of a request, as clients write it that join a base URL and a path. */
import type { IncomingMessage, Server } from 'node:http';

/** Slashes that follow each other, or end the path. Also matches some queries, which is harmless. */
const untidy = /\/(?:[/?#]|$)/;
/** Pages whose path ends with a slash. */
const page = /^\/(?:(?:docs|t)(?:\/.*)?)?$/s;

/**
 * The URL without doubled slashes in its path, and without one at its end, unless it is a page of a browser. A DELETE keeps that
 * slash: without the id that should follow it, the path may name all of a list.
 */
export function tidyUrl(url: string, method = 'GET'): string {
  if (!untidy.test(url)) return url;
  const [, origin = '', path = '', rest = ''] = /^(https?:\/\/[^/?#]*)?([^?#]*)(.*)$/is.exec(url) ?? [];
  const single = path.replace(/\/{2,}/g, '/');
  return origin + (method === 'DELETE' || page.test(single) ? single : single.replace(/\/$/, '')) + rest;
}

/** Whatever listens for requests later sees their tidy URLs. */
export function tidyUrls(server: Server): void {
  server.prependListener('request', (request: IncomingMessage) => {
    request.url = tidyUrl(request.url ?? '', request.method);
  });
}
