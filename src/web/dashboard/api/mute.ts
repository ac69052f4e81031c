/** To mute something with one click: a routing rule with an end, put before all others. */
import type { Rule, RuleCreate, RuleWhen } from '../../../contract/rule.ts';
import type { Api } from './call.ts';
import { isStatus } from './call.ts';

export interface Mute {
  readonly name: string;
  /** What is muted, as a rule says it. */
  readonly when: RuleWhen;
  readonly until: Date;
  readonly note?: string;
}

/** Someone else may make or delete a rule meanwhile: the order is read anew then. */
const attempts = 4;

/**
 * Records what matches and shows it nowhere, until then; holds at once. Answers the rule, which stands first.
 *
 * @throws ApiError as the server refuses it; no rule is left behind then.
 */
export async function mute(api: Api, { name, when, until, note }: Mute): Promise<Rule> {
  const rule = await api.post<Rule>('/api/rules', {
    name: [...name].slice(0, 100).join(''),
    when,
    then: { mute: true },
    activeUntil: until.toISOString(),
    ...(note !== undefined && { note }),
  } satisfies RuleCreate);
  try {
    await putFirst(api, rule.id);
  } catch (error) {
    await unmute(api, rule);
    throw error;
  }
  return rule;
}

export async function unmute(api: Api, { id }: Pick<Rule, 'id'>): Promise<void> {
  await api.delete(`/api/rules/${encodeURIComponent(id)}`);
}

async function putFirst(api: Api, id: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const { rules } = await api.get<{ rules: Rule[] }>('/api/rules');
    const others = rules.map((rule) => rule.id).filter((each) => each !== id);
    try {
      await api.put('/api/rules/order', { ids: [id, ...others] });
      return;
    } catch (error) {
      if (!isStatus(error, 400) || attempt === attempts) throw error;
    }
  }
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
