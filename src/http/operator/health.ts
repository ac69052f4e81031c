import { Type } from 'typebox';
import { unavailable } from '#core/errors.ts';
import { route } from '../openapi/route-schemas.ts';
import type { App, Services } from '../services.ts';

const Ready = Type.Object({ ok: Type.Literal(true) });
const Healthy = Type.Object({
  ok: Type.Literal(true),
  version: Type.String(),
  commit: Type.Optional(Type.String({ description: 'What the server was built from, if that is known.' })),
});

/** Liveness (the process answers) and readiness (it can take and keep notifications). */
export function healthRoutes(app: App, services: Services): void {
  const { version, commit } = services;
  app.get(
    '/healthz',
    route(
      'public',
      { tags: ['operating'], summary: 'Whether the process answers', response: { 200: Healthy } },
      { rateLimit: 'none' },
    ),
    async () => ({ ok: true as const, version, ...(commit !== undefined && { commit }) }),
  );
  app.get(
    '/readyz',
    route(
      'public',
      {
        tags: ['operating'],
        summary: 'Whether notifications can be stored',
        response: { 200: Ready },
      },
      { rateLimit: 'none' },
    ),
    async () => {
      const problem = notReady(services);
      if (problem !== undefined) throw unavailable(`not ready: ${problem}`);
      return { ok: true as const };
    },
  );
}

/** Why notifications cannot be stored or panels cannot be served; undefined if both work. */
export function notReady({
  storage,
  tenantStreams,
}: Pick<Services, 'storage' | 'tenantStreams'>): string | undefined {
  return storage.problem() ?? (tenantStreams.draining ? 'the server is being stopped' : undefined);
}
