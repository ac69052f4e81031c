/** Who sends a notification: a token, or Belfry itself. */
import type { Principal } from './access.ts';
import type { HistoryRecord, Ref, Route, TenantId } from './ports.ts';
import type { Decision } from './routing/router.ts';
import type { RoutingSubject } from './routing/subject.ts';
import { unite } from './target.ts';

export type Sender = Extract<Principal, { kind: 'token' }>;

/** The senders that are part of Belfry, as rules may name them: belfry:escalation. */
const ownNames = ['escalation', 'expectation', 'panel'] as const;
export type OwnSender = (typeof ownNames)[number];
export const ownSenderId = (by: OwnSender) => `belfry:${by}`;

export const ownSenders: readonly Ref[] = ownNames.map((by) => {
  const id = ownSenderId(by);
  return { id, name: id };
});

export function ownSender(tenant: TenantId, by: OwnSender): Sender {
  const id = ownSenderId(by);
  return { kind: 'token', tenant, id, name: id, scopes: ['notify'], rate: 'off', panelId: null };
}

/** The token in whose place Belfry sends, and where its last notification came from: rules find what is sent by these. */
export interface Absent {
  readonly token: Ref;
  readonly sourceIp: string;
}

/** Where the notification is that is escalated, and where its step sends it. */
export type EscalatedRoute = Pick<Route, 'target' | 'channels' | 'escalates'>;

/** What rules decided of what Belfry itself sends. What is sent in the place of a token says so, and no throttle hides it. */
export function ownDecision(
  decided: Decision,
  subject: RoutingSubject,
  escalatedTo: EscalatedRoute | undefined,
): Decision {
  if (escalatedTo) return escalatedDecision(decided, subject, escalatedTo);
  const { origin } = subject;
  return origin === undefined ? decided : { ...decided, throttle: [], route: { ...decided.route, origin } };
}

/** A repeat of what was escalated keeps that level, if it is higher, and those panels. */
export function keepEscalated<T extends Pick<Decision, 'level' | 'rank' | 'route'>>(
  repeat: T,
  escalated: Pick<HistoryRecord, 'id' | 'level' | 'rank' | 'route'>,
): T {
  const { level, rank } = escalated.rank > repeat.rank ? escalated : repeat;
  const target = unite(repeat.route.target, escalated.route.target);
  const repeats = escalated.route.repeats ?? escalated.id;
  return { ...repeat, level, rank, route: { ...repeat.route, target, repeats } };
}

/**
 * The sender's level, and the panels and channels it is escalated to with those that rules name for it; what rules mute stays
 * muted. Rules may have found the notification by what an escalation has not: its token, its address, its level.
 */
function escalatedDecision(decided: Decision, { level, rank }: RoutingSubject, to: EscalatedRoute): Decision {
  const { route } = decided;
  const channels = [...new Set([...(to.channels ?? []), ...(route.channels ?? [])])];
  // Every panel: no rule named any.
  const target = route.target.all ? to.target : unite(to.target, route.target);
  const shown = route.muted ? {} : { target, ...(channels.length > 0 && { channels }) };
  const { escalates } = to;
  return {
    ...decided,
    ...{ level, rank, throttle: [], escalation: undefined },
    route: { ...route, ...shown, ...(escalates !== undefined && { escalates }) },
  };
}
