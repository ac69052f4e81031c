/** The conditions of a rule that mutes what a person looks at. */
import type { Alarm } from '#contract/history/alarm.ts';
import type { HistoryNotification } from '#contract/history/notification.ts';
import { commonTitle, kindOf } from '#contract/history/similar.ts';
import type { RuleWhen } from '#contract/routing/rule.ts';
import { readWords } from './query-words.ts';

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

/**
 * What these alarms have in common: of one, its sender; of similar ones, their title; otherwise their hosts, or their titles.
 * undefined without an alarm.
 */
export function whenTheseAlarms(alarms: readonly Alarm[]): RuleWhen | undefined {
  const [first, ...others] = alarms;
  if (!first) return undefined;
  if (others.length === 0) return whenSame(first);
  const kind = kindOf(first);
  if (others.every((each) => kindOf(each) === kind)) return { title: whenTitle(commonTitle(first)) };
  const hosts = new Set(alarms.flatMap(({ host }) => host ?? []));
  const titles = [...new Set(alarms.map(({ title }) => title))].slice(0, mostValues);
  const allHaveHosts = alarms.every(({ host }) => host !== null);
  return allHaveHosts ? { host: [...hosts].slice(0, mostValues) } : { title: { contains: titles } };
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

/** The search as conditions; undefined if a rule cannot say all of it. */
export function whenSearch(q: string): RuleWhen | undefined {
  const when: { [K in keyof RuleWhen]: RuleWhen[K] } = {};
  const words = readWords(q);
  for (const { kind, negated, key, start, valueStart, end } of words) {
    const value = q.slice(valueStart, end);
    // Lists, quotes and what must not be there are left to the person.
    if (kind !== 'pair' || negated || start !== valueStart - key.length - 1 || /[",\\]/.test(value))
      return undefined;
    if (key === 'host' && !when.host) when.host = [value];
    else if (key === 'ip' && !when.ip && !/[*?]/.test(value)) when.ip = [value];
    else if (key === 'level' && /^>=\w/.test(value) && !when.minLevel) when.minLevel = value.slice(2);
    else if (key === 'level' && /^\w/.test(value) && !when.level) when.level = [value];
    else if (key === 'label' && value.indexOf('=') > 0) {
      const [name = '', ...rest] = value.split('=');
      if (when.labels?.[name]) return undefined;
      when.labels = { ...when.labels, [name]: [rest.join('=')] };
    } else return undefined;
  }
  return words.length === 0 ? undefined : when;
}
