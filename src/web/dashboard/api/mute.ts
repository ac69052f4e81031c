/** To mute something with one click: a routing rule with an end, put before all others. */
import type { NewRule, Rule, RuleWhen } from '#contract/rule.ts';
import type { Api } from './call.ts';

export interface Mute {
  readonly name: string;
  /** What is muted, as a rule says it. */
  readonly when: RuleWhen;
  readonly until: Date;
  readonly note?: string;
}

/** Records what matches and shows it nowhere, until then; holds at once. Answers the rule, which stands first. */
export function mute(api: Api, { name, when, until, note }: Mute): Promise<Rule> {
  return api.post<Rule>('/api/rules', {
    name: [...name].slice(0, 100).join(''),
    when,
    then: { mute: true },
    activeUntil: until.toISOString(),
    position: 1,
    ...(note !== undefined && { note }),
  } satisfies NewRule);
}

export async function unmute(api: Api, { id }: Pick<Rule, 'id'>): Promise<void> {
  await api.delete(`/api/rules/${encodeURIComponent(id)}`);
}

/** What a rule must say to mean what sent this: its host; else its ip; else its title, from the token it came by. */
export function whenSame(notification: {
  readonly host: string | null;
  readonly ip: string | null;
  readonly title: string;
  readonly token: { readonly id: string };
}): RuleWhen {
  if (notification.host !== null) return { host: [notification.host] };
  if (notification.ip !== null) return { ip: [notification.ip] };
  return { token: [notification.token.id], title: { contains: notification.title } };
}
