import { Type } from 'typebox';
import { optionalTextsOf } from '#contract/history/fields.ts';
import { labelsOf } from '#contract/history/labels.ts';
import {
  Capture,
  Mapping,
  MappingList,
  MappingName,
  MappingPreview,
  MappingPreviewed,
  MappingPut,
} from '#contract/integrations/integration.ts';
import { badField, notFound, requireFound } from '#core/errors.ts';
import { excessOf, parseBoundedJson } from '#core/limits/bounded-json.ts';
import { actorOf } from '#core/people/access.ts';
import { iso } from '#core/time/time.ts';
import { fieldsOf, type Payload, parseLevelMap } from '#integrations/format.ts';
import { PayloadWork } from '#integrations/payload.ts';
import type { PayloadTurns } from '../intake/overload.ts';
import { NoContent, problems, route } from '../openapi/route-schemas.ts';
import type { App, Services } from '../services.ts';

const Name = Type.Object({ name: MappingName });
const mostPreviewed = 20;

/** Mappings: a tenant's own templates for payloads that no integration supports. */
export function mappingRoutes(app: App, services: Services, turns: PayloadTurns): void {
  const { directory, mappings, tenancy, now } = services;

  app.get(
    '/api/mappings',
    route('admin', { summary: 'Mappings, by name', response: { 200: MappingList } }),
    async ({ principal }) => ({ mappings: [...(await directory.mappings.list(principal.tenant))] }),
  );

  app.put(
    '/api/mappings/:name',
    route('admin', {
      summary: 'Create or replace a mapping',
      description: 'What is sent to /api/integrations/custom/{name} is read by it.',
      params: Name,
      body: MappingPut,
      response: { 200: Mapping, ...problems(409) },
    }),
    async ({ principal, params, body }) => {
      const { tenant } = principal;
      await compile(body);
      const mapping = await directory.mappings.put(tenant, params.name, body, actorOf(principal), now());
      await tenancy.refresh(tenant);
      return mapping;
    },
  );

  app.delete(
    '/api/mappings/:name',
    route('admin', { summary: 'Delete a mapping', params: Name, response: { 204: NoContent } }),
    async ({ principal, params }) => {
      const { tenant } = principal;
      if (!(await directory.mappings.remove(tenant, params.name, actorOf(principal), now())))
        throw notFound('mapping');
      mappings.forget(tenant, params.name);
      await tenancy.refresh(tenant);
    },
  );

  app.get(
    '/api/mappings/:name/capture',
    route('admin', {
      summary: 'The last payload that was sent to a mapping',
      description: 'This server keeps it in memory, up to 64 KiB, until the next one or a restart.',
      params: Name,
      response: { 200: Capture },
    }),
    async ({ principal, params }) => {
      const captured = requireFound(mappings.lastCapture(principal.tenant, params.name), 'payload');
      const { at, payload, problem } = captured;
      return { receivedAt: iso(at), payload, problem };
    },
  );

  app.post(
    '/api/mappings/preview',
    route('admin', {
      summary: 'What a mapping makes of a payload',
      description: 'Stores nothing.',
      body: MappingPreview,
      response: { 200: MappingPreviewed },
      expensive: 'mapping preview',
    }),
    async ({ principal, body: { mapping, payload } }) => {
      const format = await compile(mapping);
      const work = new PayloadWork(payload.length);
      const items = await turns.run(principal.tenant, payload.length, () =>
        format.read({ ...nothing, body: parse(payload), work }),
      );
      const levels = parseLevelMap([]);
      const shown = items.slice(0, mostPreviewed).map((item) => {
        const fields = fieldsOf(item, levels);
        const { title, message, level } = fields;
        return { title, message, level, ...optionalTextsOf(fields), labels: labelsOf(fields.labels) };
      });
      return { items: shown, count: items.length };
    },
  );
}

const nothing: Omit<Payload, 'body'> = { header: () => undefined, query: new URLSearchParams(), params: {} };

async function compile(mapping: MappingPut) {
  const { customFormat } = await import('#integrations/formats/custom.ts');
  return customFormat(mapping);
}

function parse(payload: string): unknown {
  try {
    return parseBoundedJson(payload);
  } catch (error) {
    throw badField('payload', excessOf(error) ?? 'it is not valid JSON');
  }
}
