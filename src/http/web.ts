import { existsSync } from 'node:fs';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyError, FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { AppError } from '#core/errors.ts';
import { answerError, nothingThere } from './errors.ts';
import { makePublic } from './openapi/route-schemas.ts';
import type { App, Services } from './services.ts';

/**
 * The content security policy of pages: only files of this server, no inline script or style, no frame around
 * it, and no string that becomes markup or code (Trusted Types without a single policy).
 */
export const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** The policy of a push device's page: it registers one service worker (the only Trusted Types policy), and may be installed. */
const devicePagePolicy = `${pagePolicy.replace("trusted-types 'none'", 'trusted-types belfry-push')}; worker-src 'self'; manifest-src 'self'`;
/** The policy of its service worker, which sends new subscriptions to the server. */
const workerPolicy = "default-src 'none'; connect-src 'self'";
const deviceFiles = ['worker.js', 'manifest.webmanifest', 'icon-192.png', 'icon-512.png', 'badge.png'];

/** Each page with its paths. The dashboard's own router handles the paths below them. */
const pages = {
  'panel/index.html': ['/panel'],
  'push/index.html': ['/push'],
  'dashboard/index.html': ['/', '/t/*', '/sign-in', '/setup', '/invite', '/account', '/new-tenant'],
} as const;

/** The pages people open and the files they load, as `npm start` built them. */
export function webRoutes(app: App, { settings }: Services): void {
  const folder = settings.webFolder;
  void app.register(async (scope) => {
    scope.addHook('onRoute', makePublic);
    await scope.register(fastifyStatic, {
      root: join(folder, 'assets'),
      prefix: '/assets/',
      // The name contains a hash of the content, so a name never changes its meaning.
      immutable: true,
      maxAge: '365d',
      lastModified: false,
      preCompressed: true,
      index: false,
      // The folder may be built while the server runs.
      suppressWarning: true,
    });
    // A path that cannot be a file name is a 404.
    scope.setErrorHandler((error: FastifyError, request, reply) => {
      const isOurs = error instanceof AppError || (error.statusCode ?? 500) >= 500;
      return answerError(isOurs ? error : nothingThere(), request, reply);
    });
    const ofDevice = { schema: { params: Type.Object({ file: Type.String() }), hide: true } };
    scope.get<{ Params: { file: string } }>('/push/:file', ofDevice, async ({ params }, reply) => {
      const file = join('push', params.file);
      if (!deviceFiles.includes(params.file) || !existsSync(join(folder, file))) throw nothingThere();
      return reply
        .header('content-security-policy', workerPolicy)
        .header('cache-control', 'no-cache')
        .sendFile(file, folder, { cacheControl: false, lastModified: false });
    });
    for (const [file, paths] of Object.entries(pages)) {
      for (const path of paths)
        scope.get(path, { schema: { hide: true } }, async (_request, reply) => sendPage(reply, folder, file));
    }
  });
}

function sendPage(reply: FastifyReply, folder: string, file: string): FastifyReply {
  if (!existsSync(join(folder, file)))
    throw new AppError('not-found', 'the pages are not built here: start with npm start, which builds them');
  return asPage(reply, file === 'push/index.html' ? devicePagePolicy : pagePolicy)
    .header('cache-control', 'no-cache')
    .sendFile(file, folder, { cacheControl: false, lastModified: false });
}

/** Sets the headers that every page has. */
export const asPage = (reply: FastifyReply, policy = pagePolicy): FastifyReply =>
  reply
    .header('content-security-policy', policy)
    .header('referrer-policy', 'no-referrer')
    .header('cross-origin-opener-policy', 'same-origin');
