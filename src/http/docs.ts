/** The documentation at /docs, and the description of the API for machines and people. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { RouteOptions } from 'fastify';
import { AppError } from '#core/errors.ts';
import { nothingThere } from './errors.ts';
import type { createApiReference } from './openapi/openapi.ts';
import { makePublic } from './openapi/route-schemas.ts';
import type { App, Services } from './services.ts';
import { asPage } from './web.ts';

/** A page or a file of the documentation; a name that begins with a dot is neither. */
const address = /^(?:[\w-][\w.-]*\/)*[\w-][\w.-]*$/;
/** Shown in a browser in place of a page that does not exist. */
const notFoundPage = 'not-found.html';

/** /docs: the documentation, as files that were built and compressed before. */
export function docsRoutes(app: App, { settings }: Services): void {
  const root = settings.docsFolder;
  void app.register(async (scope) => {
    scope.addHook('onRoute', makePublic);
    await scope.register(fastifyStatic, {
      root,
      serve: false,
      preCompressed: true,
      cacheControl: false,
      lastModified: false,
      suppressWarning: true,
      // Files of other kinds than pages and pictures are read in the browser, whatever their name.
      setHeaders: (reply, path) => {
        if (path.includes('/files/') && !/\.(?:png|svg)$/.test(path))
          reply.header('content-type', 'text/plain; charset=utf-8');
      },
    });
    const schema = { hide: true };
    scope.get('/docs', { schema }, (_request, reply) => reply.redirect('/docs/', 308));
    scope.get<{ Params: { '*': string } }>('/docs/*', { schema }, async ({ params, headers }, reply) => {
      const file = fileOf(params['*']);
      if (!existsSync(join(root, 'start.html')))
        throw new AppError(
          'not-found',
          'the documentation is not built here: start with npm start, which builds it',
        );
      if (file === undefined || file === notFoundPage || !existsSync(join(root, file))) {
        if (!headers.accept?.includes('text/html')) throw nothingThere();
        reply.code(404).type('text/html; charset=utf-8').header('vary', 'accept');
        return asPage(reply)
          .header('cache-control', 'no-cache')
          .send(await readFile(join(root, notFoundPage)));
      }
      // The name of an asset contains a hash of its content, so a name never changes its meaning.
      reply.header(
        'cache-control',
        file.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
      );
      if (file.endsWith('.html')) asPage(reply);
      return reply.sendFile(file);
    });
  });
}

function fileOf(path: string): string | undefined {
  const page = path.replace(/\/$/, '') || 'start';
  if (!address.test(page)) return undefined;
  return page.startsWith('assets/') || page.startsWith('files/') || extname(page) === '.html'
    ? page
    : `${page}.html`;
}

const options = { config: { policy: 'public' }, schema: { hide: true } } as const;

/** /openapi.json, and /docs/api to read it in a browser. Their code is loaded by the first request. */
export function openApiRoutes(
  app: App,
  { version }: Pick<Services, 'version'>,
  routes: () => readonly RouteOptions[],
): void {
  let loading: ReturnType<typeof createApiReference> | undefined;
  const load = () => {
    loading ??= import('./openapi/openapi.ts')
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
