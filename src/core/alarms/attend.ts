/** Applies escalations and expectations during intake. */
import type { CheckedFields } from '../intake/notification.ts';
import { keepEscalated, type Sender } from '../intake/own-sender.ts';
import type { Entry, Escalated, HistoryRecord, NotificationDraft, TenantId } from '../log/log.ts';
import type { Escalation } from '../routing/router.ts';
import type { Throttled } from '../routing/throttle.ts';

export interface Attention {
  /** Returns a warning for the sender, if there is one. */
  expect(sender: Sender, sourceIp: string, fields: CheckedFields): Promise<string | undefined>;
  /** Returns the escalation that it replaces on panels, or the repeat of one. */
  escalate(
    tenant: TenantId,
    draft: NotificationDraft,
    escalation: Escalation,
  ): Promise<HistoryRecord | undefined>;
  /** Call it when a repeat has replaced an escalation that `escalate` did not return for it: that step is sent again. */
  escalateAgain(tenant: TenantId, key: string, replaced: Escalated): Promise<void>;
  /** The notification on panels of a key with an escalation in progress. */
  findEscalating(tenant: TenantId, key: string): Promise<NotificationDraft | undefined>;
}

export interface RoutedDraft {
  readonly draft: NotificationDraft;
  readonly counted: Throttled | undefined;
  readonly escalation: Escalation | undefined;
}

/**
 * Schedules the escalation of a notification. A repeat of an escalated one keeps its level and panels. A repeat that a throttle
 * suppresses is counted on the escalation, which stays on its panels.
 *
 * @returns the draft to store.
 */
export async function scheduleEscalation(
  attention: Attention,
  tenant: TenantId,
  { draft, counted, escalation }: RoutedDraft,
): Promise<NotificationDraft> {
  if (!escalation) return draft;
  if (counted) {
    const on = draft.key === null ? undefined : await attention.findEscalating(tenant, draft.key);
    return on ? { ...draft, throttledOn: on.id } : draft;
  }
  const escalated = await attention.escalate(tenant, draft, escalation);
  return escalated ? keepEscalated(draft, escalated) : draft;
}

/**
 * Call it once a draft of {@link scheduleEscalation} is stored. A step may have been sent in between. If it fails, the next step
 * replaces the repeat; after the last one, the hourly check of the escalation sends that step again.
 */
export async function keepEscalation(
  attention: Attention,
  tenant: TenantId,
  { key, route }: NotificationDraft,
  entries: readonly Entry[],
): Promise<void> {
  const [first] = entries;
  const replaced = first?.kind === 'clear' ? first.route.escalated : undefined;
  if (replaced && key !== null && replaced.times > (route.escalated?.times ?? 0))
    await attention.escalateAgain(tenant, key, replaced);
}
