/** The conditions of a rule that mutes what a person looks at. */
import type { Alarm } from '#contract/history/alarm.ts';
import type { HistoryNotification } from '#contract/history/notification.ts';
import { commonTitle, kindOf } from '#contract/history/similar.ts';
import type { RuleWhen } from '#contract/routing/rule.ts';

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
 * What these alarms have in common: of one, its sender; of similar ones, their title; otherwise their hosts, or their titles.
 * undefined without an alarm.
 */
export function whenTheseAlarms(alarms: readonly Alarm[]): AlarmConditions | undefined {
  const [first, ...others] = alarms;
  if (!first) return undefined;
  if (others.length === 0) return { when: whenSame(first), leftOut: 0 };
  const kind = kindOf(first);
  if (others.every((each) => kindOf(each) === kind))
    return { when: { title: whenTitle(commonTitle(first)) }, leftOut: 0 };
  const hosts = alarms.flatMap(({ host }) => host ?? []);
  const hasHosts = hosts.length === alarms.length;
  const all = [...new Set(hasHosts ? hosts : alarms.map(({ title }) => title))];
  const values = all.slice(0, mostValues);
  return {
    when: hasHosts ? { host: values } : { title: { contains: values } },
    leftOut: all.length - values.length,
  };
}

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
