import type { RouteOptions } from 'fastify';
import type { createApiReference } from './openapi.ts';
import type { App, Services } from './services.ts';

const options = { config: { policy: 'public' }, schema: { hide: true } } as const;

/** /openapi.json, and /docs/api to read it in a browser. What makes them is loaded by the first who asks. */
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
        // The next who asks tries again.
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
  // Where they were before the documentation had other pages.
  for (const name of ['json', 'yaml'])
    app.get(`/docs/${name}`, options, (_request, reply) => reply.redirect(`/docs/api/${name}`, 308));
}
