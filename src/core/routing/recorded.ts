/** Recorded notifications, routed anew from what their senders sent. */
import { keepEscalated, ownDecision, ownSenderId } from '../own-sender.ts';
import type { HistoryRecord } from '../ports.ts';
import type { Decision, Router } from './router.ts';
import type { RoutingSubject } from './subject.ts';

/** What of it is needed; the token's name is the present one. */
export type Recorded = Pick<
  HistoryRecord,
  | 'id'
  | 'receivedAt'
  | 'title'
  | 'message'
  | 'level'
  | 'rank'
  | 'ttl'
  | 'sentLevel'
  | 'sentTtl'
  | 'ip'
  | 'host'
  | 'key'
  | 'sourceIp'
  | 'tokenId'
  | 'tokenName'
  | 'route'
  | 'throttledOn'
>;

/** What the sender sent, as routing sees it; the level's rank is today's. */
export function subjectOf(record: Recorded, router: Pick<Router, 'rankOf'>): RoutingSubject {
  const { sentLevel, sentTtl, route } = record;
  return { ...record, level: sentLevel, rank: router.rankOf(sentLevel), ttl: sentTtl, origin: route.origin };
}

/** An escalation, and a repeat of one, keeps the panels that it had besides those that the rules choose. */
export function routeRecorded(record: Recorded, router: Router, at: number): Decision {
  const subject = subjectOf(record, router);
  const { route } = record;
  const isEscalation = record.tokenId === ownSenderId('escalation');
  const decision = ownDecision(router.route(subject, at), subject, isEscalation ? route : undefined);
  return route.repeats === undefined || decision.route.muted ? decision : keepEscalated(decision, record);
}
