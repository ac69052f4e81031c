/** How a tenant reads payloads that no integration knows. */
import { type Static, Type } from 'typebox';
import { limits } from './limits.ts';

export const MappingName = Type.String({
  pattern: '^[a-z0-9][a-z0-9._-]{0,63}$',
  description: 'In the path of what is sent; in lower case.',
});
const Template = Type.String({
  maxLength: 1_000,
  description:
    'A text in which {/pointer} stands for the value at that JSON Pointer of the item, and {^/pointer} for that of the whole payload.',
});
const Level = Type.String({ pattern: limits.levelPattern.source });

export const MappingPut = Type.Object(
  {
    items: Type.Optional(
      Type.String({
        maxLength: 200,
        pattern: '^(?:/.*)?$',
        description:
          'JSON Pointer of a list with one notification for each item. Without it the payload is one notification.',
      }),
    ),
    fields: Type.Object(
      {
        title: Template,
        message: Type.Optional(Template),
        level: Type.Optional(Template),
        host: Type.Optional(Template),
        key: Type.Optional(Template),
        url: Type.Optional(Template),
        identity: Type.Optional(Template),
      },
      {
        additionalProperties: false,
        description: 'identity: what is sent again with the same one is not stored twice.',
      },
    ),
    levels: Type.Optional(
      Type.Record(Type.String({ minLength: 1, maxLength: 100 }), Level, {
        maxProperties: 100,
        description: 'The level of each word that the field level may have; `*` is for every other word.',
      }),
    ),
  },
  { title: 'MappingPut', additionalProperties: false },
);
export type MappingPut = Static<typeof MappingPut>;

export const Mapping = Type.Object(
  {
    name: MappingName,
    ...MappingPut.properties,
    updatedAt: Type.String({ format: 'date-time' }),
    updatedBy: Type.String(),
  },
  { title: 'Mapping', additionalProperties: false },
);
export type Mapping = Static<typeof Mapping>;

export const MappingList = Type.Object(
  { mappings: Type.Array(Mapping) },
  { title: 'MappingList', additionalProperties: false },
);

/** The last payload that was sent to a mapping. */
export const Capture = Type.Object(
  {
    receivedAt: Type.String({ format: 'date-time' }),
    payload: Type.String({ description: 'The body as it came.' }),
    problem: Type.Union([Type.String(), Type.Null()], { description: 'Why it could not be read.' }),
  },
  { title: 'Capture', additionalProperties: false },
);
export type Capture = Static<typeof Capture>;

export const MappingPreview = Type.Object(
  {
    mapping: MappingPut,
    payload: Type.String({ maxLength: limits.captureBytes, description: 'JSON.' }),
  },
  { title: 'MappingPreview', additionalProperties: false },
);

export const MappingPreviewed = Type.Object(
  {
    items: Type.Array(
      Type.Object(
        {
          title: Type.String(),
          message: Type.String(),
          level: Type.String(),
          host: Type.Union([Type.String(), Type.Null()]),
          ip: Type.Union([Type.String(), Type.Null()]),
          key: Type.Union([Type.String(), Type.Null()]),
          url: Type.Union([Type.String(), Type.Null()]),
        },
        { additionalProperties: false },
      ),
      { description: 'At most the first 20.' },
    ),
    count: Type.Integer(),
  },
  { title: 'MappingPreviewed', additionalProperties: false },
);
export type MappingPreviewed = Static<typeof MappingPreviewed>;
