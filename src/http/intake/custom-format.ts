/** The format of a tenant's own mapping. It keeps the last payload, for the people who edit the mapping. */
import type { FastifyRequest } from 'fastify';
import type { Mapping } from '#contract/integrations/mapping.ts';
import { limits } from '#contract/limits.ts';
import { AppError, requireFound } from '#core/errors.ts';
import type { Format } from '#integrations/format.ts';
import type { Services } from '../services.ts';

/** By the mapping as it was read; a changed one is another object. */
const compiled = new WeakMap<Mapping, Format>();

async function formatOf(mapping: Mapping): Promise<Format> {
  let format = compiled.get(mapping);
  if (!format) {
    const { customFormat } = await import('#integrations/custom.ts');
    format = customFormat(mapping);
    compiled.set(mapping, format);
  }
  return format;
}

/** @throws AppError `not-found`. */
export async function findCustomFormat(
  { mappings, now }: Services,
  { principal, params, body }: FastifyRequest,
): Promise<Format> {
  const { tenant } = principal;
  const { mapping: name = '' } = params as { mapping?: string };
  const mapping = requireFound(await mappings.find(tenant, name), 'mapping');
  const format = await formatOf(mapping);
  const bytes = (body as Buffer | undefined) ?? Buffer.alloc(0);
  const capture = (problem: string | null) => {
    if (bytes.length <= limits.captureBytes)
      mappings.capture(tenant, name, { at: now(), payload: bytes.toString('utf8'), problem });
  };
  capture('the payload was not read: it is not valid, or was beyond the rate limit');
  return {
    ...format,
    read(payload) {
      try {
        const items = format.read(payload);
        capture(null);
        return items;
      } catch (error) {
        capture(error instanceof AppError ? error.message : 'internal error');
        throw error;
      }
    },
  };
}
