/** How a tenant reads payloads that no integration knows. */
import { type Static, Type } from 'typebox';
import { mapOptionalTexts } from '../history/fields.ts';
import { limits } from '../limits.ts';
import { closed, component, Instant, nullable } from '../schema.ts';

export const MappingName = Type.String({
  pattern: '^[a-z0-9][a-z0-9._-]{0,63}$',
  description: 'In the path of what is sent; in lower case.',
});
const Template = Type.String({
  maxLength: 1_000,
  description:
    'A text in which {/pointer} stands for the value at that JSON Pointer of the item, and {^/pointer} for that of the whole payload.',
});
/** `host` takes addresses, too. */
const { ip: _, ...templates } = mapOptionalTexts(() => Type.Optional(Template));
const Level = Type.String({ pattern: limits.levelPattern.source });

export const MappingPut = component('MappingPut', {
  items: Type.Optional(
    Type.String({
      maxLength: 200,
      pattern: '^(?:/.*)?$',
      description:
        'JSON Pointer of a list with one notification for each item; empty if the payload itself is that list. Without it the payload is one notification.',
    }),
  ),
  fields: closed(
    {
      title: Template,
      message: Type.Optional(Template),
      level: Type.Optional(Template),
      ...templates,
      identity: Type.Optional(Template),
    },
    {
      description:
        'key: what has one stays on panels until the next with the same key, unless its level is info or success. identity: what is sent again with the same one is not stored twice.',
    },
  ),
  levels: Type.Optional(
    Type.Record(Type.String({ minLength: 1, maxLength: 100 }), Level, {
      maxProperties: 100,
      description: 'The level of each word that the field level may have; `*` is for every other word.',
    }),
  ),
});
export type MappingPut = Static<typeof MappingPut>;

export const Mapping = component('Mapping', {
  name: MappingName,
  ...MappingPut.properties,
  updatedAt: Instant,
  updatedBy: Type.String(),
});
export type Mapping = Static<typeof Mapping>;

export const MappingList = component('MappingList', { mappings: Type.Array(Mapping) });

/** The last payload that was sent to a mapping. */
export const Capture = component('Capture', {
  receivedAt: Instant,
  payload: Type.String({ description: 'The body as it came.' }),
  problem: nullable(Type.String(), { description: 'Why it could not be read.' }),
});
export type Capture = Static<typeof Capture>;

export const MappingPreview = component('MappingPreview', {
  mapping: MappingPut,
  payload: Type.String({ maxLength: limits.captureBytes, description: 'JSON.' }),
});

export const MappingPreviewed = component('MappingPreviewed', {
  items: Type.Array(
    closed({
      title: Type.String(),
      message: Type.String(),
      level: Type.String(),
      ...mapOptionalTexts(() => nullable(Type.String())),
    }),
    { description: 'At most the first 20.' },
  ),
  count: Type.Integer(),
});
export type MappingPreviewed = Static<typeof MappingPreviewed>;
