/** A configuration as YAML, and a plan as lines, for people. */
import { isDeepStrictEqual } from 'node:util';
import { Document, isMap, isScalar, isSeq } from 'yaml';
import { type Configuration, type Section, sections } from '#contract/configuration.ts';
import { cutText, visibleText } from '../terminal-text.ts';
import { otherValue, placeholdersOf } from './channels.ts';
import {
  briefRule,
  type Current,
  channelEntry,
  levelEntry,
  mappingEntry,
  Names,
  panelEntry,
  requireDistinctNames,
  searchEntry,
  singular,
} from './entries.ts';
import type { FieldChange, Plan } from './plan.ts';

const schemaFile = 'belfry.schema.json';

/** What a server has as a file that `apply` takes. */
export function configurationOf(current: Current): Configuration {
  const names = new Names(current);
  requireDistinctNames(current.rules);
  const placeholders = placeholdersOf(current.channels);
  const rules = current.rules.filter(({ then }) => !names.isEmptied(then));
  return {
    version: 1,
    levels: current.levels.map(levelEntry),
    mappings: current.mappings.map(mappingEntry),
    channels: current.channels.map((channel, i) => ({
      ...channelEntry(channel),
      ...(channel.secrets.length > 0 && { secrets: { ...placeholders[i] } }),
    })),
    panels: current.panels.map(panelEntry),
    onCall: current.onCall.map((schedule) => names.onCallEntry(schedule)),
    rules: rules.map((rule) => briefRule(names.ruleEntry(rule))),
    searches: current.searches.map(searchEntry),
  };
}

export function yamlOf(configuration: Configuration): string {
  const document = new Document(configuration, { aliasDuplicateObjects: false });
  document.commentBefore = ` yaml-language-server: $schema=./${schemaFile}`;
  for (const section of sections) {
    const list = document.get(section);
    if (!isSeq(list)) continue;
    for (const item of list.items.slice(1)) if (isMap(item)) item.spaceBefore = true;
  }
  if (isMap(document.contents))
    for (const { key } of document.contents.items)
      if (isScalar(key) && key.value !== 'version') key.spaceBefore = true;
  return document.toString({ lineWidth: 0 });
}

const maxValueChars = 60;

/** Each change on a line of its own: + created, ~ changed, - deleted. */
export function planLines(plan: Plan, prune: boolean): string[] {
  const lines: string[] = [];
  for (const section of sections) {
    const { created, updated, extra } = plan[section];
    for (const { entry } of created) lines.push(line('+', section, entry.name));
    for (const { entry, fields } of updated)
      lines.push(line('~', section, entry.name), ...fields.map(fieldLine));
    if (prune) for (const { name } of extra) lines.push(line('-', section, name));
  }
  if (plan.isReordered) lines.push('~ order of the rules');
  return lines;
}

/** What is on the server only, and stays. */
export function extraLine(plan: Plan, program: string): string | undefined {
  const names = sections.flatMap((section) =>
    plan[section].extra.map(({ name }) => `${singular[section]} "${visibleText(name)}"`),
  );
  if (names.length === 0) return undefined;
  const shown = names.slice(0, 5).join(', ');
  const more = names.length > 5 ? ` and ${names.length - 5} more` : '';
  return `not in the file, and left alone: ${shown}${more}; ${program} apply --prune deletes them`;
}

/** What `export` leaves out, as lines for people. */
export function leftOutLines(current: Current): string[] {
  const names = new Names(current);
  return current.rules.flatMap(({ name, then }) => {
    const rule = `rule "${visibleText(name)}"`;
    if (names.isEmptied(then))
      return [`${rule} only names channels or on-call schedules that are deleted; it is left out`];
    const { channels, onCall, ...others } = names.withoutDeleted(then);
    const { channels: chosen, onCall: schedule, ...before } = then;
    return [
      ...(onCall === schedule ? [] : [`${rule} names an on-call schedule that is deleted; it is left out`]),
      ...(isDeepStrictEqual(before, others)
        ? []
        : [`${rule} chooses a panel that is deleted; it is left out`]),
      ...(isDeepStrictEqual(chosen, channels)
        ? []
        : [`${rule} names a channel that is deleted; it is left out`]),
    ];
  });
}

function line(sign: string, section: Section, name: string): string {
  return `${sign} ${singular[section]} "${visibleText(name)}"`;
}

function fieldLine({ field, before, after }: FieldChange): string {
  return `    ${visibleText(field)}: ${valueText(before)} -> ${valueText(after)}`;
}

function valueText(value: unknown): string {
  if (value === otherValue) return otherValue;
  return value === undefined ? '(none)' : cutText(visibleText(JSON.stringify(value)), maxValueChars);
}
