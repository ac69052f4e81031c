/** What to do about a notification, as the rules that matched it say. It is not stored with the notification. */
import { limits } from '#contract/limits.ts';
import type { NotificationDetail } from '#contract/routing/routing.ts';
import type { Route } from '../log/route.ts';
import type { Router } from './router.ts';

type Routed = { readonly route: Route };
type Rules = Pick<Router, 'instructing'>;

/**
 * The instructions that these rules have now, in their order. A rule that is deleted has none. An escalation has also those of the
 * notification that it sends again, because its level may match other rules.
 */
export function instructionsOf(
  { route }: Routed,
  { instructing }: Rules,
): NotificationDetail['instructions'] {
  if (instructing.size === 0) return [];
  const ids = new Set([...route.rules.map(({ id }) => id), ...(route.escalated?.rules ?? [])]);
  return [...ids]
    .flatMap((id) => instructing.get(id) ?? [])
    .sort((a, b) => a.ordinal - b.ordinal)
    .slice(0, limits.instructionsShown)
    .map(({ rule, text }) => ({ rule, text }));
}

/** {@link instructionsOf} as one text for panels and channels; undefined: there are none. */
export function instructionsText(notification: Routed, rules: Rules): string | undefined {
  const texts = instructionsOf(notification, rules).map(({ text }) => text.trim());
  if (texts.length === 0) return undefined;
  const whole = texts.join('\n\n');
  const { instructionsTextChars: most } = limits;
  return whole.length <= most ? whole : `${whole.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
