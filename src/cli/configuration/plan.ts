/** What must change so that a server has what a file says. Asks nothing, and changes nothing. */
import { isDeepStrictEqual } from 'node:util';
import type {
  ChannelEntry,
  Configuration,
  MappingEntry,
  OnCallEntry,
  Section,
} from '#contract/configuration.ts';
import { sections } from '#contract/configuration.ts';
import type { SavedSearch } from '#contract/history/search.ts';
import type { Mapping } from '#contract/integrations/integration.ts';
import type { Panel } from '#contract/panels/panel.ts';
import { isPlainObject } from '#contract/plain-object.ts';
import type { Level } from '#contract/routing/level.ts';
import { isBuiltInLevel } from '#contract/routing/level-styles.ts';
import type { OnCallSchedule } from '#contract/routing/on-call.ts';
import type { Rule } from '#contract/routing/rule.ts';
import type { ReadyChannels } from './channels.ts';
import {
  type Current,
  channelEntry,
  levelEntry,
  mappingEntry,
  Names,
  panelEntry,
  requireDistinctNames,
  searchEntry,
  type WholeRule,
} from './entries.ts';

/** One field that differs; undefined: there is none on that side. */
export interface FieldChange {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

interface Named {
  readonly name: string;
}

/** Of one section: what to create, to change and to delete. `index` is the place of the entry in the file. */
interface SectionPlan<Entry extends Named, Known extends Named> {
  readonly created: readonly { readonly entry: Entry; readonly index: number }[];
  readonly updated: readonly {
    readonly known: Known;
    readonly entry: Entry;
    readonly index: number;
    readonly fields: readonly FieldChange[];
  }[];
  /** On the server and not in the file; deleted only with --prune. */
  readonly extra: readonly Known[];
}

/** A rule in the order that is to be: of the file (`entry`), or only of the server. */
export interface PlannedRule {
  readonly name: string;
  readonly known?: Rule;
  readonly entry?: WholeRule;
  readonly index?: number;
}

export interface Plan {
  readonly levels: SectionPlan<Named & Partial<Level>, Level>;
  readonly mappings: SectionPlan<MappingEntry, Mapping>;
  readonly channels: SectionPlan<ChannelEntry, Current['channels'][number]>;
  readonly panels: SectionPlan<Named & Partial<Panel>, Panel>;
  readonly onCall: SectionPlan<OnCallEntry, OnCallSchedule>;
  readonly rules: SectionPlan<WholeRule, Rule>;
  readonly searches: SectionPlan<Named & { readonly q: string }, SavedSearch>;
  /** All rules in their new order, those that are only on the server included. */
  readonly order: readonly PlannedRule[];
  /** The rules that are there stand in another order. */
  readonly isReordered: boolean;
}

/** @throws Failure when two rules of the server have one name. */
export function planOf(wanted: Configuration, current: Current, channels: ReadyChannels): Plan {
  const names = new Names(current);
  requireDistinctNames(current.rules);
  const entries = wanted.rules?.map((rule) => names.wholeRule(rule));
  const rules = planSection(entries, current.rules, (rule) => names.ruleEntry(rule));
  const order = orderOf(entries ?? [], current.rules);
  const known = order.flatMap(({ known: rule }) => rule?.name ?? []);
  return {
    levels: withoutBuiltIn(planSection(wanted.levels, current.levels, levelEntry)),
    mappings: planSection(wanted.mappings?.map(mappingEntry), current.mappings, mappingEntry),
    channels: planChannels(channels, current.channels),
    panels: planSection(wanted.panels, current.panels, panelEntry),
    onCall: planSection(
      wanted.onCall?.map((entry) => names.wholeOnCall(entry)),
      current.onCall,
      (schedule) => names.onCallEntry(schedule),
    ),
    rules,
    searches: planSection(wanted.searches?.map(trimmed), current.searches, searchEntry),
    order,
    isReordered: !isDeepStrictEqual(
      known,
      current.rules.map(({ name }) => name),
    ),
  };
}

function planChannels({ entries, unchanged }: ReadyChannels, known: Current['channels']): Plan['channels'] {
  const before = (channel: Current['channels'][number]) => {
    const secrets = unchanged.get(channel.name);
    return { ...channelEntry(channel), ...(secrets && { secrets }) };
  };
  return planSection(entries, known, before);
}

const trimmed = <T extends Named>(entry: T): T => ({ ...entry, name: entry.name.trim() });

/** Built-in levels are always there. */
function withoutBuiltIn(plan: SectionPlan<Named & Partial<Level>, Level>) {
  return { ...plan, extra: plan.extra.filter(({ name }) => !isBuiltInLevel(name)) };
}

/** A section that the file does not have is left alone. Fields that an entry does not name keep their value. */
function planSection<Entry extends Named, Known extends Named>(
  entries: readonly Entry[] | undefined,
  known: readonly Known[],
  entryOf: (known: Known) => object,
): SectionPlan<Entry, Known> {
  const byName = new Map(known.map((each) => [each.name, each]));
  const inFile = new Set(entries?.map(({ name }) => name));
  const created: { entry: Entry; index: number }[] = [];
  const updated: SectionPlan<Entry, Known>['updated'][number][] = [];
  for (const [index, entry] of (entries ?? []).entries()) {
    const same = byName.get(entry.name);
    if (!same) {
      created.push({ entry, index });
      continue;
    }
    const fields = differing(entryOf(same), entry);
    if (fields.length > 0) updated.push({ known: same, entry, index, fields });
  }
  return { created, updated, extra: entries ? known.filter(({ name }) => !inFile.has(name)) : [] };
}

/** What differs, field by field. The fields of `then` and `when` are compared one by one, as a person reads them. */
function differing(before: object, after: object, prefix = ''): FieldChange[] {
  const isWhole = prefix !== '';
  const fields = new Set([...Object.keys(after), ...(isWhole ? Object.keys(before) : [])]);
  return [...fields].flatMap((name) => {
    const [old, now] = [fieldOf(before, name), fieldOf(after, name)];
    const field = `${prefix}${name}`;
    if (isDeepStrictEqual(old, now)) return [];
    const opens = ['when', 'then', 'display', 'settings', 'secrets', 'fields', 'levels'].includes(field);
    if (opens && isPlainObject(old) && isPlainObject(now)) return differing(old, now, `${field}.`);
    return [{ field, before: old, after: now }];
  });
}

const fieldOf = (object: object, name: string): unknown =>
  Object.hasOwn(object, name) ? object[name as keyof typeof object] : undefined;

/**
 * The new order of all rules. Those of the file stand in its order, in the places that they have now; a new one follows the
 * one before it in the file; those that are only on the server keep their places.
 */
function orderOf(entries: readonly WholeRule[], current: readonly Rule[]): PlannedRule[] {
  const known = new Map(current.map((rule) => [rule.name, rule]));
  const planned = entries.map((entry, index): PlannedRule => {
    const rule = known.get(entry.name);
    return { name: entry.name, entry, index, ...(rule && { known: rule }) };
  });
  const inFile = new Set(entries.map(({ name }) => name));
  const places = planned.filter((rule) => rule.known);
  const order: PlannedRule[] = [];
  let next = 0;
  /** Adds the rules of the file up to and with the next one that is on the server, and the new ones behind it. */
  const takeNext = () => {
    const until = places.shift();
    while (next < planned.length) {
      const rule = planned[next] as PlannedRule;
      if (rule.known && rule !== until) break;
      order.push(rule);
      next += 1;
    }
  };
  for (const rule of current) {
    if (inFile.has(rule.name)) takeNext();
    else order.push({ name: rule.name, known: rule });
  }
  order.push(...planned.slice(next));
  return order;
}

/** Whether applying it would change anything. */
export function isEmptyPlan(plan: Plan, prune: boolean): boolean {
  return (
    !plan.isReordered &&
    sections.every((section) => {
      const { created, updated, extra } = plan[section];
      return created.length === 0 && updated.length === 0 && (!prune || extra.length === 0);
    })
  );
}

/** What --prune deletes, as `rule "old"`. */
export function prunedNames(plan: Plan, nameOf: Readonly<Record<Section, string>>): string[] {
  return sections
    .toReversed()
    .flatMap((section) => plan[section].extra.map(({ name }) => `${nameOf[section]} "${name}"`));
}
