/** Routes recorded notifications again, from the fields that their senders sent. */
import type { OptionalText } from '#contract/history/fields.ts';
import { keepEscalated, ownDecision, ownSenderId } from '../intake/own-sender.ts';
import type { HistoryRecord } from '../ports.ts';
import type { Decision, Router } from './router.ts';
import type { RoutingSubject } from './subject.ts';

/** The fields that routing needs; the token's name is the current one. */
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
  | OptionalText
  | 'sourceIp'
  | 'tokenId'
  | 'tokenName'
  | 'route'
  | 'throttledOn'
>;

/** The subject as the sender sent it, with the current rank of its level. */
export function subjectOf(record: Recorded, router: Pick<Router, 'rankOf'>): RoutingSubject {
  const { sentLevel, sentTtl, route } = record;
  return { ...record, level: sentLevel, rank: router.rankOf(sentLevel), ttl: sentTtl, origin: route.origin };
}

/** An escalation, and a repeat of one, keeps its panels in addition to those that the rules choose. */
export function routeRecorded(record: Recorded, router: Router, at: number): Decision {
  const subject = subjectOf(record, router);
  const { route } = record;
  const isEscalation = record.tokenId === ownSenderId('escalation');
  const decision = ownDecision(router.route(subject, at), subject, isEscalation ? route : undefined);
  return route.repeats === undefined || decision.route.muted ? decision : keepEscalated(decision, record);
}
