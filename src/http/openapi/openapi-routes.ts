import type { RouteOptions } from 'fastify';
import type { App, Services } from '../services.ts';
import type { createApiReference } from './openapi.ts';

const options = { config: { policy: 'public' }, schema: { hide: true } } as const;

/** /openapi.json, and /docs/api to read it in a browser. Their code is loaded by the first request. */
export function openApiRoutes(
  app: App,
  { version }: Pick<Services, 'version'>,
  routes: () => readonly RouteOptions[],
): void {
  let loading: ReturnType<typeof createApiReference> | undefined;
  const load = () => {
    loading ??= import('./openapi.ts')
      .then(({ createApiReference }) => createApiReference(version, routes(), app.log))
      .catch((error) => {
        // The next request tries again.
        loading = undefined;
        throw error;
      });
    return loading;
  };
  app.get('/openapi.json', options, async (_request, reply) => {
    reply.header('cache-control', 'no-cache');
    return (await load()).swagger();
  });
  for (const url of ['/docs/api', '/docs/api/*'])
    app.get(url, options, async (request, reply) => {
      const reference = await load();
      reply.hijack();
      reference.routing(request.raw, reply.raw);
    });
}
