/** From what a sender sent to the subject of routing and the stored draft. */
import type { NotificationDraft } from '../ports.ts';
import type { Decision } from '../routing/router.ts';
import type { RoutingSubject } from '../routing/subject.ts';
import type { Throttled } from '../routing/throttle.ts';
import type { CheckedFields } from './notification.ts';
import type { Sender } from './own-sender.ts';

interface Sent {
  readonly sender: Pick<Sender, 'id' | 'name'>;
  readonly sourceIp: string;
  readonly fields: CheckedFields;
}

/** `rank`: the rank of the sent level. */
export function subjectOf({ sender, sourceIp, fields }: Sent, rank: number): RoutingSubject {
  const { id: tokenId, name: tokenName } = sender;
  return { ...fields, rank, sourceIp, tokenId, tokenName };
}

export function draftOf(
  { sender, sourceIp, fields: { level: sentLevel, ttl: sentTtl, expect: _, ...texts } }: Sent,
  {
    id,
    receivedAt,
    decision: { level, rank, ttl, route },
    counted,
  }: {
    readonly id: string;
    readonly receivedAt: number;
    readonly decision: Decision;
    readonly counted: Throttled | undefined;
  },
): NotificationDraft {
  return {
    ...texts,
    id,
    receivedAt,
    level,
    rank,
    ttl,
    route,
    expiresAt: ttl === 0 ? null : receivedAt + ttl,
    sentLevel,
    sentTtl,
    sourceIp,
    tokenId: sender.id,
    throttledOn: counted?.on ?? null,
    throttleCount: counted?.count ?? 0,
  };
}
