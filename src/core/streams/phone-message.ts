/** What messages on phones have beside the fields of a notification, whatever app shows them. */
import type { OptionalTexts } from '#contract/history/fields.ts';
import { builtInStyles } from '#contract/routing/level-styles.ts';
import { escalationReason, returnReason, withReason } from '../alarms/reasons.ts';
import type { Notification, Return } from '../log/log.ts';
import { instructionsText } from '../routing/instructions.ts';
import type { EncodingContext } from './encoding.ts';

export type MessageContext = Pick<EncodingContext, 'snapshot' | 'router' | 'baseUrl'>;

/** What a tap opens: the page of the alarm in the dashboard, or if no public URL is known, the `url` of the notification. */
export function clickOf(
  { snapshot, baseUrl }: MessageContext,
  { id, url, rank }: Pick<Notification, 'id' | 'rank'> & OptionalTexts,
): string | null {
  const name = snapshot()?.record.name;
  return baseUrl === undefined || name === undefined ? url : pageOf(baseUrl, name, { id, rank });
}

/** The page of an alarm in the dashboard; of an end, that of its notification. */
export function pageOf(
  baseUrl: string,
  tenant: string,
  { id, rank }: Pick<Notification, 'id' | 'rank'>,
): string {
  const page = rank < builtInStyles.info.rank ? 'history' : 'alarms';
  return `${baseUrl}/t/${tenant}/${page}?id=${id}`;
}

/** What to do, as the rules say now; null: they say nothing. */
export function instructionsNow({ router }: MessageContext, n: Pick<Notification, 'route'>): string | null {
  const rules = router();
  return (rules && instructionsText(n, rules)) ?? null;
}

/** The text of `n`, sent as the entry `of`: a phone that rings again says why. */
export const textOf = (n: Notification, of: Notification | Return): string =>
  withReason(of.kind === 'return' ? returnReason(of) : escalationReason(n), n.message);
