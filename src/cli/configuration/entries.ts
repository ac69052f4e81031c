/** What a server has, in the form of the file, where things are known by their names. */
import type { Channel } from '#contract/channel.ts';
import type { LevelEntry, PanelEntry, RuleEntry, SearchEntry, Section } from '#contract/configuration.ts';
import type { Level } from '#contract/level.ts';
import type { Panel } from '#contract/panel.ts';
import type { Rule, RuleConditions, RuleCreate, RuleWhen } from '#contract/rule.ts';
import type { SavedSearch } from '#contract/search.ts';
import type { Token } from '#contract/token.ts';
import { Failure } from '../failure.ts';
import { withoutDeletedPanels } from './deleted-panels.ts';

/** A tenant's configuration, as its server answers it. */
export interface Current {
  readonly levels: readonly Level[];
  readonly panels: readonly Panel[];
  readonly rules: readonly Rule[];
  readonly searches: readonly SavedSearch[];
  readonly tokens: readonly Pick<Token, 'id' | 'name'>[];
  readonly channels: readonly Pick<Channel, 'id' | 'name'>[];
}

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

  constructor({ panels, tokens, channels }: Pick<Current, 'panels' | 'tokens' | 'channels'>) {
    this.#panelNames = new Map(panels.map(({ id, name }) => [id, name]));
    this.#channelNames = new Map(channels.map(({ id, name }) => [id, name]));
    const uses = Map.groupBy(tokens, ({ name }) => name);
    const unique = tokens.filter(({ name }) => uses.get(name)?.length === 1);
    this.#tokenNames = new Map(unique.map(({ id, name }) => [id, name]));
  }

  /** A rule of the server, as a file has it. Panels that are deleted are left out. */
  ruleEntry({ name, enabled, when, then, note, windows, timeZone, ...rule }: Rule): WholeRule {
    const { panels, ...effects } = withoutDeletedPanels(then, (id) => this.#panelNames.has(id));
    const ids = typeof panels === 'object' && 'ids' in panels ? panels.ids : undefined;
    const target = ids ? { names: ids.map((id) => this.#panelNames.get(id) ?? id) } : panels;
    return this.wholeRule({
      name,
      enabled,
      when,
      then: {
        ...(target !== undefined && { panels: target as NonNullable<RuleEntry['then']['panels']> }),
        ...effects,
      },
      continue: rule.continue,
      activeFrom: rule.activeFrom,
      activeUntil: rule.activeUntil,
      windows,
      ...(windows.length > 0 && { timeZone }),
      note,
    });
  }

  /** With the defaults of what is left out, and tokens and channels by their names, so that two of one meaning are equal. */
  wholeRule(entry: RuleEntry): WholeRule {
    const whole = { ...ruleDefaults, ...entry, name: entry.name.trim() } as WholeRule;
    const { channels } = whole.then;
    const named = channels?.map((channel) => this.#channelNames.get(channel) ?? channel);
    const then = named ? { ...whole.then, channels: named } : whole.then;
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
  { then: { panels: target, ...effects }, ...rule }: WholeRule,
  panelIds: ReadonlyMap<string, string>,
  refuse: (index: number, name: string) => Error,
): RuleCreate {
  const byName = typeof target === 'object' && 'names' in target ? target.names : undefined;
  const panels = byName
    ? {
        ids: byName.map((name, i) => {
          const id = panelIds.get(name);
          if (id === undefined) throw refuse(i, name);
          return id;
        }),
      }
    : (target as Exclude<typeof target, { names: string[] }>);
  return { ...rule, then: { ...effects, ...(panels !== undefined && { panels }) } };
}

export const levelEntry = ({ builtIn: _, ...level }: Level): LevelEntry => ({ repeatMs: 0, ...level });

export const panelEntry = ({ name, tags, location, display }: Panel): PanelEntry => ({
  name,
  tags,
  location,
  display,
});

export const searchEntry = ({ name, q }: SavedSearch): SearchEntry => ({ name, q });

/** Without the fields that have their default: what a person would have written. */
export function briefRule(rule: WholeRule): RuleEntry {
  const isDefault = (name: string, value: unknown) =>
    Object.hasOwn(ruleDefaults, name) &&
    JSON.stringify(value) === JSON.stringify(ruleDefaults[name as keyof typeof ruleDefaults]);
  return Object.fromEntries(
    Object.entries(rule).filter(([name, value]) => !isDefault(name, value)),
  ) as RuleEntry;
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
  panels: 'panel',
  rules: 'rule',
  searches: 'search',
};
