import helmet from '@fastify/helmet';
import swaggerUi from '@fastify/swagger-ui';
import type { App } from '../services.ts';

/** /openapi.json, and /docs to read it in a browser. */
export function docsRoutes(app: App): void {
  app.get(
    '/openapi.json',
    { config: { policy: 'public' }, schema: { hide: true } },
    async (_request, reply) => {
      reply.header('cache-control', 'no-cache');
      return app.swagger();
    },
  );
  void app.register(async (scope) => {
    scope.addHook('onRoute', (route) => {
      route.config = { ...route.config, policy: 'public' };
    });
    await scope.register(helmet, { contentSecurityPolicy: false, hsts: false });
    await scope.register(swaggerUi, {
      routePrefix: '/docs',
      staticCSP: true,
      uiConfig: { url: '/openapi.json' },
    });
  });
}
