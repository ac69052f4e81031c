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
  const { title, message, level, ttl, ip, host, key } = fields;
  const { id: tokenId, name: tokenName } = sender;
  return { title, message, level, rank, ttl, ip, sourceIp, host, key, tokenId, tokenName };
}

export function draftOf(
  { sender, sourceIp, fields }: Sent,
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
    id,
    receivedAt,
    level,
    rank,
    ttl,
    route,
    expiresAt: ttl === 0 ? null : receivedAt + ttl,
    title: fields.title,
    message: fields.message,
    sentLevel: fields.level,
    sentTtl: fields.ttl,
    ip: fields.ip,
    host: fields.host,
    key: fields.key,
    url: fields.url,
    sourceIp,
    tokenId: sender.id,
    throttledOn: counted?.on ?? null,
    throttleCount: counted?.count ?? 0,
  };
}
