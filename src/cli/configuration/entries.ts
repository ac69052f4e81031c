/** What a server has, in the form of the file, where things are known by their names. */
import type { Channel } from '#contract/channels/channel.ts';
import type {
  ChannelEntry,
  LevelEntry,
  MappingEntry,
  OnCallEntry,
  PanelEntry,
  RuleEntry,
  SearchEntry,
  Section,
} from '#contract/configuration.ts';
import type { SavedSearch } from '#contract/history/search.ts';
import type { Mapping } from '#contract/integrations/integration.ts';
import type { Panel } from '#contract/panels/panel.ts';
import type { Token } from '#contract/people/token.ts';
import type { Level } from '#contract/routing/level.ts';
import type { OnCallCreate, OnCallSchedule } from '#contract/routing/on-call.ts';
import type { Rule, RuleConditions, RuleCreate, RuleThen, RuleWhen } from '#contract/routing/rule.ts';
import { Failure } from '../failure.ts';

/** A tenant's configuration, as its server answers it. */
export interface Current {
  readonly levels: readonly Level[];
  readonly panels: readonly Panel[];
  readonly rules: readonly Rule[];
  readonly searches: readonly SavedSearch[];
  readonly tokens: readonly Pick<Token, 'id' | 'name' | 'revokedAt'>[];
  readonly channels: readonly Pick<Channel, 'id' | 'name' | 'kind' | 'enabled' | 'settings' | 'secrets'>[];
  readonly mappings: readonly Mapping[];
  readonly onCall: readonly OnCallSchedule[];
}

const dayMs = 86_400_000;

/** The default of each field of a rule that has one; the time zone's is the tenant's. */
const ruleDefaults = {
  enabled: true,
  when: {},
  continue: false,
  activeFrom: null,
  activeUntil: null,
  windows: [],
  note: '',
} as const;

/** A rule with every field, but for a time zone that nothing names. */
export type WholeRule = RuleEntry & Required<Omit<RuleEntry, 'timeZone'>>;

/** Names where the server has ids, and ids where the file has names. */
export class Names {
  readonly #panelNames: ReadonlyMap<string, string>;
  readonly #tokenNames: ReadonlyMap<string, string>;
  readonly #channelNames: ReadonlyMap<string, string>;
  readonly #onCallNames: ReadonlyMap<string, string>;

  constructor({
    panels,
    tokens,
    channels,
    onCall,
  }: Pick<Current, 'panels' | 'tokens' | 'channels' | 'onCall'>) {
    this.#panelNames = new Map(panels.map(({ id, name }) => [id, name]));
    this.#channelNames = new Map(channels.map(({ id, name }) => [id, name]));
    this.#onCallNames = new Map(onCall.map(({ id, name }) => [id, name]));
    const uses = Map.groupBy(tokens, ({ name }) => name);
    const unique = tokens.filter(({ name }) => uses.get(name)?.length === 1);
    this.#tokenNames = new Map(unique.map(({ id, name }) => [id, name]));
  }

  /** A rule of the server, as a file has it. Panels, channels and on-call schedules that are deleted are left out. */
  ruleEntry({ name, enabled, when, then, note, windows, timeZone, ...rule }: Rule): WholeRule {
    const named = mapPanels<RuleThen, RuleEntry['then']>(this.withoutDeleted(then), (panels) =>
      typeof panels === 'object' && 'ids' in panels
        ? { names: panels.ids.map((id) => this.#panelNames.get(id) ?? id) }
        : panels,
    );
    return this.wholeRule({
      name,
      enabled,
      when,
      then: named,
      continue: rule.continue,
      activeFrom: rule.activeFrom,
      activeUntil: rule.activeUntil,
      windows,
      ...(windows.length > 0 && { timeZone }),
      note,
    });
  }

  /** See {@link withoutDeleted}. */
  withoutDeleted(then: RuleThen): RuleThen {
    const known = { panels: this.#panelNames, channels: this.#channelNames, onCall: this.#onCallNames };
    return withoutDeleted(then, known);
  }

  /** It only names deleted channels or schedules, so nothing is left of it, and the server takes no rule that does nothing. */
  isEmptied(then: RuleThen): boolean {
    const isNaming = then.channels !== undefined || then.onCall !== undefined;
    return isNaming && Object.keys(this.withoutDeleted(then)).length === 0;
  }

  /** An on-call schedule of the server, as a file has it. Panels and channels that are deleted are left out. */
  onCallEntry({ name, timeZone, people, rota, calendar, alertBeforeMs }: OnCallSchedule): OnCallEntry {
    const existing = (ids: readonly string[], names: ReadonlyMap<string, string>) =>
      ids.flatMap((id) => names.get(id) ?? []);
    const entries = people.map(({ channels: ofPerson = [], panels, ...person }) => {
      const channels = existing(ofPerson, this.#channelNames);
      const names = panels && 'ids' in panels ? existing(panels.ids, this.#panelNames) : [];
      const named = panels && 'tags' in panels ? panels : names.length > 0 ? { names } : undefined;
      return { ...person, ...(channels.length > 0 && { channels }), ...(named && { panels: named }) };
    });
    return { name, timeZone, people: entries, rota, calendar, alertBeforeMs };
  }

  /** With the defaults of what is left out, and channels by their names. */
  wholeOnCall(entry: OnCallEntry): OnCallEntry {
    const people = entry.people.map(({ channels, ...person }) => ({
      ...person,
      ...(channels &&
        channels.length > 0 && { channels: channels.map((each) => this.#channelNames.get(each) ?? each) }),
    }));
    return { rota: null, calendar: null, alertBeforeMs: dayMs, ...entry, name: entry.name.trim(), people };
  }

  /** With the defaults of what is left out, and tokens and channels by their names, so that two of one meaning are equal. */
  wholeRule(entry: RuleEntry): WholeRule {
    const whole = { ...ruleDefaults, ...entry, name: entry.name.trim() } as WholeRule;
    const { channels, onCall } = whole.then;
    const then = {
      ...whole.then,
      ...(channels && { channels: channels.map((channel) => this.#channelNames.get(channel) ?? channel) }),
      ...(onCall !== undefined && { onCall: this.#onCallNames.get(onCall) ?? onCall }),
    };
    return { ...whole, when: this.#withTokenNames(whole.when), then };
  }

  #withTokenNames(when: RuleWhen): RuleWhen {
    const named = <T extends RuleConditions>(conditions: T): T =>
      conditions.token
        ? { ...conditions, token: conditions.token.map((token) => this.#tokenNames.get(token) ?? token) }
        : conditions;
    return when.not ? { ...named(when), not: named(when.not) } : named(when);
  }
}

/** A rule as the API takes it. @throws what `refuse` makes, when it names a panel that is not in `panels`. */
export function ruleToSend(
  { then, ...rule }: WholeRule,
  panelIds: ReadonlyMap<string, string>,
  refuse: (place: Path, name: string) => Error,
): RuleCreate {
  const withIds = mapPanels<WholeRule['then'], RuleThen>(then, (panels, place) => {
    if (typeof panels !== 'object' || !('names' in panels)) return panels;
    const ids = panels.names.map((name, i) => {
      const id = panelIds.get(name);
      if (id === undefined) throw refuse([...place, 'names', i], name);
      return id;
    });
    return { ids };
  });
  return { ...rule, then: withIds };
}

/** An on-call schedule as the API takes it. @throws as {@link ruleToSend}. */
export function onCallToSend(
  { people, ...schedule }: OnCallEntry,
  panelIds: ReadonlyMap<string, string>,
  refuse: (place: Path, name: string) => Error,
): OnCallCreate {
  const idOf = (name: string, place: Path) => {
    const id = panelIds.get(name);
    if (id === undefined) throw refuse(place, name);
    return id;
  };
  const withIds = people.map(({ panels, ...person }, i) => {
    if (!panels) return person;
    if ('tags' in panels) return { ...person, panels };
    const ids = panels.names.map((name, n) => idOf(name, ['people', i, 'panels', 'names', n]));
    return { ...person, panels: { ids } };
  });
  return { ...schedule, people: withIds };
}

export const levelEntry = ({ builtIn: _, ...level }: Level): LevelEntry => ({
  ...level,
  repeatMs: level.repeatMs ?? 0,
  acknowledgeForMs: level.acknowledgeForMs ?? 0,
});

export const panelEntry = ({ name, kind, tags, location, display }: Panel): PanelEntry => ({
  name,
  kind,
  tags,
  location,
  display,
});

/** With every field, so that one which is left out differs from one that is set. */
export const mappingEntry = ({ name, items, fields, labels, levels }: MappingEntry) =>
  ({ name, items, fields, labels, levels }) as MappingEntry;

/** Without its secrets. */
export const channelEntry = ({
  name,
  kind,
  enabled,
  settings,
}: Current['channels'][number]): ChannelEntry => ({ name, kind, enabled, settings });

export const searchEntry = ({ name, q, alarms }: SavedSearch): SearchEntry => ({
  name,
  q,
  ...(alarms && { alarms }),
});

/** Without the fields that have their default, in the order in which a person writes them. */
export function briefRule(rule: WholeRule): RuleEntry {
  const isDefault = (name: string, value: unknown) =>
    Object.hasOwn(ruleDefaults, name) &&
    JSON.stringify(value) === JSON.stringify(ruleDefaults[name as keyof typeof ruleDefaults]);
  const fields = Object.entries(rule).filter(([name, value]) => !isDefault(name, value));
  const { name, when, then, ...others } = Object.fromEntries(fields) as RuleEntry;
  return { name, ...(when && { when }), then, ...others };
}

/** @throws Failure when two rules have one name: the file could not tell them apart. */
export function requireDistinctNames(rules: readonly { readonly name: string }[]): void {
  const known = new Set<string>();
  for (const { name } of rules) {
    if (known.has(name))
      throw new Failure(
        `two rules are named "${name}": rename one of them first, because a file knows rules by their names`,
      );
    known.add(name);
  }
}

/** How one thing of each section is called. */
export const singular: Readonly<Record<Section, string>> = {
  levels: 'level',
  mappings: 'mapping',
  channels: 'channel',
  panels: 'panel',
  onCall: 'on-call schedule',
  rules: 'rule',
  searches: 'search',
};

/** As the API has them, with ids, or as the file does, with names. */
type Then = RuleThen | RuleEntry['then'];
export type Path = readonly (string | number)[];

/** The effects of a rule with its panels, and those of its steps, in another form. `place`: where they stand in the rule. */
function mapPanels<From extends Then, To extends Then>(
  then: From,
  to: (panels: NonNullable<From['panels']>, place: Path) => To['panels'],
): To {
  const of = ({ panels }: { readonly panels?: unknown }, place: Path) =>
    panels === undefined ? {} : { panels: to(panels as NonNullable<From['panels']>, place) };
  const { escalate } = then;
  return {
    ...then,
    ...of(then, ['then', 'panels']),
    ...(escalate && {
      escalate: escalate.map((step, i) => ({ ...step, ...of(step, ['then', 'escalate', i, 'panels']) })),
    }),
  } as unknown as To;
}

interface Known {
  readonly panels: { has(id: string): boolean };
  readonly channels: { has(id: string): boolean };
  readonly onCall: { has(id: string): boolean };
}

/**
 * What is left of it without deleted panels, channels and on-call schedules: the server keeps their ids, and takes no rule that names one. A
 * rule that chose only deleted panels chooses none.
 */
export function withoutDeleted(then: RuleThen, { panels, channels, onCall }: Known): RuleThen {
  const left = mapPanels<RuleThen, RuleThen>(then, (target) => {
    if (typeof target !== 'object' || !('ids' in target)) return target;
    const ids = target.ids.filter((id) => panels.has(id));
    return ids.length > 0 ? { ids } : 'none';
  });
  const { channels: chosen, onCall: schedule, ...others } = left;
  const existing = chosen?.filter((id) => channels.has(id)) ?? [];
  return {
    ...others,
    ...(existing.length > 0 && { channels: existing }),
    ...(schedule !== undefined && onCall.has(schedule) && { onCall: schedule }),
  };
}
