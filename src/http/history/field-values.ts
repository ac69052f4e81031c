import { type Static, Type } from 'typebox';
import { valueKeys } from '#contract/history/fields.ts';
import { FieldValues } from '#contract/history/overview.ts';
import { limits } from '#contract/limits.ts';
import { type ValueField, valueFields } from '#core/history/statistics.ts';
import type { TenantId } from '#core/ports.ts';
import { connectionSignal } from '../client-connection.ts';
import { route } from '../openapi/route-schemas.ts';
import type { App, Services } from '../services.ts';

const mostValues = 20;
const Key = Type.Enum([...valueKeys, 'level']);

/** GET /api/history/values: completions for a key of the query language. */
export function fieldValueRoutes(app: App, services: Services): void {
  app.get(
    '/api/history/values',
    route('viewer', {
      summary: 'Values that begin with the prefix, to complete a search while it is typed',
      description: `At most ${mostValues}, in order. Values of the last seconds may be missing.`,
      querystring: Type.Object({
        key: Key,
        prefix: Type.Optional(Type.String({ maxLength: 255 })),
      }),
      response: { 200: FieldValues },
    }),
    async (request) => {
      const { tenant } = request.principal;
      const { key, prefix = '' } = request.query;
      if (isValueField(key)) {
        const bounds = { timeoutMs: limits.searchMs, signal: connectionSignal(request) };
        const wanted = { field: key, prefix, limit: mostValues, ...bounds };
        return { values: [...(await services.statistics.values(tenant, wanted))] };
      }
      const begin = prefix.toLowerCase();
      const names = [...new Set(await namesOf(services, tenant, key))];
      const fitting = names.filter((name) => name.toLowerCase().startsWith(begin));
      return { values: fitting.sort((a, b) => a.localeCompare(b)).slice(0, mostValues) };
    },
  );
}

const isValueField = (key: Static<typeof Key>): key is ValueField =>
  (valueFields as readonly string[]).includes(key);

async function namesOf(
  { tenancy, directory }: Services,
  tenant: TenantId,
  key: Exclude<Static<typeof Key>, ValueField>,
): Promise<string[]> {
  const { panels, levels } = await tenancy.get(tenant);
  switch (key) {
    case 'panel':
      return Array.from(panels.values(), ({ name }) => name);
    case 'level':
      return [...levels.keys()];
    case 'token':
      return (await directory.credentials.list(tenant, 'token')).map(({ name }) => name);
    case 'rule':
      return (await directory.rules.list(tenant)).map(({ name }) => name);
  }
}
