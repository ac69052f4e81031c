/** The conditions of a rule that mutes what a person looks at. What is critical is muted only if the person says so. */
import type { Alarm } from '#contract/history/alarm.ts';
import { isLabelField, labelOfField } from '#contract/history/labels.ts';
import type { HistoryNotification } from '#contract/history/notification.ts';
import {
  commonTitle,
  type GroupField,
  groupedValue,
  kindOf,
  titleKindOf,
} from '#contract/history/similar.ts';
import type { RuleConditions, RuleWhen } from '#contract/routing/rule.ts';

/** The levels of a tenant by name. */
export type Ranks = ReadonlyMap<string, { readonly rank: number }>;

/** This level and all above it are critical. */
const critical = 'critical';
/** The rank of the built-in level, until the levels have been read. */
const usualRank = 50;

export const isCritical = (rank: number, levels: Ranks): boolean =>
  rank >= (levels.get(critical)?.rank ?? usualRank);

/** The ranks of the levels that pass the conditions. */
function passingRanks({ level, minLevel, not = {} }: RuleWhen, levels: Ranks): readonly number[] {
  const isAtLeast = (rank: number, least = '') =>
    rank >= (levels.get(least.toLowerCase())?.rank ?? Number.NaN);
  const isIn = (names: readonly string[], name: string) => names.some((each) => each.toLowerCase() === name);
  return [...levels].flatMap(([name, { rank }]) => {
    const passes =
      (level === undefined || isIn(level, name)) &&
      (minLevel === undefined || isAtLeast(rank, minLevel)) &&
      !isIn(not.level ?? [], name) &&
      !isAtLeast(rank, not.minLevel);
    return passes ? rank : [];
  });
}

/** A notification that is critical can match. */
export const matchesCritical = (when: RuleWhen, levels: Ranks): boolean =>
  passingRanks(when, levels).some((rank) => isCritical(rank, levels));

/** The same conditions, without what is critical; unless they match only that. Until the levels have been read, always without. */
export function sparingCritical(when: RuleWhen, levels: Ranks): RuleWhen {
  const areCritical = passingRanks(when, levels).map((rank) => isCritical(rank, levels));
  if (levels.size > 0 && (areCritical.every(Boolean) || !areCritical.some(Boolean))) return when;
  return { ...when, not: { ...when.not, minLevel: critical } };
}

/** Conditions that match what sent this: its host; else its ip; else its title, by the same token. */
export function whenSame({
  host,
  ip,
  title,
  token,
}: Pick<HistoryNotification, 'host' | 'ip' | 'title' | 'token'>): RuleWhen {
  if (host !== null) return { host: [host] };
  if (ip !== null) return { ip: [ip] };
  return { token: [token.id], title: { contains: title } };
}

/** A condition lists no more hosts or titles. */
const mostValues = 100;

export interface AlarmConditions {
  readonly when: RuleWhen;
  /** How many more hosts or titles the alarms have than the condition lists. */
  readonly leftOut: number;
}

/**
 * What these alarms have in common: of one, its sender; of similar ones, their title, or what their rule groups them by; otherwise
 * their hosts, or their titles. Without what is critical, unless all of them are. undefined without an alarm.
 */
export function whenTheseAlarms(alarms: readonly Alarm[], levels: Ranks): AlarmConditions | undefined {
  const common = inCommon(alarms);
  if (!common || alarms.every(({ rank }) => isCritical(rank, levels))) return common;
  return { ...common, when: sparingCritical(common.when, levels) };
}

function inCommon(alarms: readonly Alarm[]): AlarmConditions | undefined {
  const [first, ...others] = alarms;
  if (!first) return undefined;
  if (others.length === 0) return { when: whenSame(first), leftOut: 0 };
  const kind = kindOf(first);
  if (others.every((each) => kindOf(each) === kind)) return { when: whenKind(first, kind), leftOut: 0 };
  const hosts = alarms.flatMap(({ host }) => host ?? []);
  const hasHosts = hosts.length === alarms.length;
  const all = [...new Set(hasHosts ? hosts : alarms.map(({ title }) => title))];
  const values = all.slice(0, mostValues);
  return {
    when: hasHosts ? { host: values } : { title: { contains: values } },
    leftOut: all.length - values.length,
  };
}

/** Conditions that match the alarms of a kind: {@link kindOf}. */
function whenKind(alarm: Alarm, kind: string): RuleWhen {
  const { group = [] } = alarm;
  if (kind === titleKindOf(alarm)) return { title: whenTitle(commonTitle(alarm)) };
  const labels: Record<string, string[]> = {};
  let when: RuleConditions = {};
  for (const field of group) {
    const value = groupedValue(alarm, field);
    if (value === null) continue;
    if (isLabelField(field)) labels[labelOfField(field)] = [value.slice(value.indexOf('=') + 1)];
    else when = { ...when, ...whenField(field, value, alarm) };
  }
  return { ...when, ...(Object.keys(labels).length > 0 && { labels }) };
}

const whenField = (field: Exclude<GroupField, `label:${string}`>, value: string, alarm: Alarm) =>
  field === 'title' ? { title: whenTitle(commonTitle(alarm)) } : { [field]: [value] };

/** A common title has `…` where the titles differ. */
const whenTitle = (title: string) =>
  title.includes('…')
    ? {
        glob: `*${title
          .split('…')
          .map((part) => part.trim())
          .join('*')}*`,
      }
    : { contains: title };
