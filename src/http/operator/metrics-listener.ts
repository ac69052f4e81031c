import { errorHeader, formatErrorHeader } from '#contract/error-header.ts';
import type { Services } from '../services.ts';
import { serverRegistry } from './metrics.ts';

const notFound = {
  'content-type': 'application/json; charset=utf-8',
  [errorHeader]: formatErrorHeader('not-found'),
};

/** GET /metrics on a listener of its own, for those who keep it off the public one; undefined when none is asked for. */
export async function startMetricsListener(
  { host, port }: { readonly host: string; readonly port: number | undefined },
  services: Pick<Services, 'storage' | 'tenantStreams' | 'metrics'>,
): Promise<{ close(): Promise<void> } | undefined> {
  if (port === undefined) return undefined;
  // As a module this brings fetch and all that belongs to it along, 13 MiB that a server has no other use for.
  const { createServer } = await import('node:http');
  const registry = serverRegistry(services);
  const server = createServer(async (request, response) => {
    const found = ['GET', 'HEAD'].includes(request.method ?? '') && request.url?.split('?')[0] === '/metrics';
    if (found)
      response.writeHead(200, { 'content-type': registry.contentType }).end(await registry.metrics());
    else response.writeHead(404, notFound).end('{"error":"there is only GET /metrics here"}');
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
