/** The file of `belfry export`, `diff` and `apply`: what a tenant is set up with, each thing known by its name. */
import { type Static, Type } from 'typebox';
import { ChannelCreate } from './channels/channel.ts';
import { SavedSearchPut } from './history/search.ts';
import { MappingName, MappingPut } from './integrations/integration.ts';
import { limits } from './limits.ts';
import { PanelPatch } from './panels/panel.ts';
import { LevelName, LevelPut } from './routing/level.ts';
import { OnCallCreate, OnCallPerson } from './routing/on-call.ts';
import { EscalationStep, RuleCreate, RuleThen } from './routing/rule.ts';
import { closed, component } from './schema.ts';

const { name: panelName, ...panelFields } = PanelPatch.properties;

const LevelEntry = closed(
  { name: LevelName, ...LevelPut.properties },
  { description: 'A built-in level that is restyled, or one of your own. What is left out keeps its value.' },
);

const MappingEntry = closed(
  { name: MappingName, ...MappingPut.properties },
  { description: 'The whole mapping: what is left out has its default.' },
);

const ChannelEntry = closed(
  {
    ...ChannelCreate.properties,
    secrets: Type.Optional(
      Type.Record(
        Type.String({ pattern: '^[a-zA-Z]{1,32}$' }),
        Type.String({
          pattern: '^\\$\\{[A-Za-z_][A-Za-z0-9_]{0,199}\\}$',
          description: `write \${NAME}, and apply takes the value from the environment variable NAME`,
        }),
        { maxProperties: 20, description: `Each as \${NAME}: the value is in that environment variable.` },
      ),
    ),
  },
  { description: 'What is left out keeps its value; `settings` is replaced as a whole.' },
);

const PanelEntry = closed(
  { name: Type.String({ ...panelName }), ...panelFields },
  { description: 'What is left out keeps its value.' },
);

const OnCallPersonEntry = closed({
  ...OnCallPerson.properties,
  panels: Type.Optional(
    Type.Union([
      closed({ names: Type.Array(Type.String(), { minItems: 1, maxItems: limits.onCallNames }) }),
      closed({ tags: Type.Array(Type.String(), { minItems: 1, maxItems: limits.onCallNames }) }),
    ]),
  ),
});

const OnCallEntry = closed(
  {
    ...OnCallCreate.properties,
    people: Type.Array(OnCallPersonEntry, { minItems: 1, maxItems: 50 }),
  },
  { description: 'The whole on-call schedule: what is left out has its default.' },
);

/** As in the API, but panels are named: ids differ from server to server. */
const PanelNames = Type.Union([
  Type.Literal('all'),
  Type.Literal('none'),
  closed({ names: Type.Array(Type.String(), { minItems: 1, maxItems: 1000 }) }),
  closed({ tags: Type.Array(Type.String(), { minItems: 1, maxItems: 100 }) }),
]);

const EscalationEntry = closed({ ...EscalationStep.properties, panels: Type.Optional(PanelNames) });

const RuleEntry = closed(
  {
    ...RuleCreate.properties,
    then: closed({
      ...RuleThen.properties,
      panels: Type.Optional(PanelNames),
      escalate: Type.Optional(Type.Array(EscalationEntry, { minItems: 1, maxItems: 5 })),
    }),
  },
  { description: 'The whole rule: what is left out has its default.' },
);

const SearchEntry = closed(SavedSearchPut.properties);

/** A section that is left out is left alone. */
export const Configuration = component('Belfry configuration', {
  version: Type.Literal(1, { description: 'The version of this format.' }),
  levels: Type.Optional(Type.Array(LevelEntry, { maxItems: 1_000 })),
  mappings: Type.Optional(Type.Array(MappingEntry, { maxItems: limits.mappingsPerTenant })),
  channels: Type.Optional(Type.Array(ChannelEntry, { maxItems: limits.channelsPerTenant })),
  panels: Type.Optional(Type.Array(PanelEntry, { maxItems: 20_000 })),
  onCall: Type.Optional(Type.Array(OnCallEntry, { maxItems: limits.onCallPerTenant })),
  rules: Type.Optional(
    Type.Array(RuleEntry, { maxItems: 20_000, description: 'In the order in which they are tried.' }),
  ),
  searches: Type.Optional(Type.Array(SearchEntry, { maxItems: 1_000 })),
});
export type Configuration = Static<typeof Configuration>;
export type LevelEntry = Static<typeof LevelEntry>;
export type MappingEntry = Static<typeof MappingEntry>;
export type ChannelEntry = Static<typeof ChannelEntry>;
export type PanelEntry = Static<typeof PanelEntry>;
export type OnCallEntry = Static<typeof OnCallEntry>;
export type RuleEntry = Static<typeof RuleEntry>;
export type SearchEntry = Static<typeof SearchEntry>;

/** The sections of a file, in the order in which one may name what stands in those before it. */
export const sections = ['levels', 'mappings', 'channels', 'panels', 'onCall', 'rules', 'searches'] as const;
export type Section = (typeof sections)[number];

/** The JSON Schema of the file, for editors. */
export function configurationSchema(): object {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    ...(JSON.parse(JSON.stringify(Configuration)) as object),
  };
}
