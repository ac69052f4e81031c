/** What intake asks of escalations and expectations. */
import type { CheckedFields } from '../notification.ts';
import { keepEscalated, type Sender } from '../own-sender.ts';
import type { HistoryRecord, NotificationDraft, TenantId } from '../ports.ts';
import type { Escalation } from '../routing/router.ts';
import type { Throttled } from '../routing/throttle.ts';

export interface Attention {
  /** Answers what the sender is to be warned of. */
  expect(sender: Sender, sourceIp: string, fields: CheckedFields): Promise<string | undefined>;
  /** Answers the escalation of its key that it replaces on panels, or that one's repeat. */
  escalate(
    tenant: TenantId,
    draft: NotificationDraft,
    escalation: Escalation,
  ): Promise<HistoryRecord | undefined>;
  /** What is on panels of the key that is being escalated. */
  findEscalating(tenant: TenantId, key: string): Promise<NotificationDraft | undefined>;
}

export interface ToAttend {
  readonly draft: NotificationDraft;
  readonly counted: Throttled | undefined;
  readonly escalation: Escalation | undefined;
}

/**
 * Has it escalated in its time. A repeat of what was escalated already keeps that level and those panels; one that a throttle
 * does not show is counted on the escalation, and leaves that on its panels.
 *
 * @returns what is to be stored.
 */
export async function attend(
  attention: Attention,
  tenant: TenantId,
  { draft, counted, escalation }: ToAttend,
): Promise<NotificationDraft> {
  if (!escalation) return draft;
  if (counted) {
    const on = draft.key === null ? undefined : await attention.findEscalating(tenant, draft.key);
    return on ? { ...draft, throttledOn: on.id } : draft;
  }
  const escalated = await attention.escalate(tenant, draft, escalation);
  return escalated ? keepEscalated(draft, escalated) : draft;
}
