/** What to do about a notification, as the rules that matched it say. It is not stored with the notification. */
import { limits } from '#contract/limits.ts';
import type { NotificationDetail } from '#contract/routing/routing.ts';
import type { HistoryRecord } from '../log/log.ts';
import type { Router } from './router.ts';

/** The instructions that these rules have now, in their order. A rule that is deleted has none. */
export function instructionsOf(
  { route }: Pick<HistoryRecord, 'route'>,
  { rules }: Pick<Router, 'rules'>,
): NotificationDetail['instructions'] {
  const matched = new Set(route.rules.map(({ id }) => id));
  return rules
    .flatMap(({ ref, spec: { then } }) =>
      then.instructions !== undefined && matched.has(ref.id) ? [{ rule: ref, text: then.instructions }] : [],
    )
    .slice(0, limits.instructionsShown);
}
