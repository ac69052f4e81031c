/** Who sends a notification: a token, or Belfry itself. */
import { ownSenderNames } from '#contract/routing/rule-names.ts';
import type { HistoryRecord } from '../log/log.ts';
import type { Ref, Route, SuppressKeys, TenantId } from '../log/route.ts';
import { type Target, unite } from '../log/target.ts';
import type { Principal } from '../people/access.ts';
import type { Decision } from '../routing/router.ts';
import type { RoutingSubject } from '../routing/subject.ts';

export type Sender = Extract<Principal, { kind: 'token' }>;

export type OwnSender = (typeof ownSenderNames)[number];
const ownSenderPrefix = 'belfry:';
export const ownSenderId = (by: OwnSender) => `${ownSenderPrefix}${by}`;

export const ownSenders: readonly Ref[] = ownSenderNames.map((by) => {
  const id = ownSenderId(by);
  return { id, name: id };
});

export function ownSender(tenant: TenantId, by: OwnSender): Sender {
  const id = ownSenderId(by);
  const limits = { scopes: ['notify'], rate: 'off', panelId: null, allowInUrl: false } as const;
  return { kind: 'token', tenant, id, name: id, ...limits };
}

/** The token in whose place Belfry sends, with the addresses of its last notification, so that rules match both alike. */
export interface SilentSender {
  readonly token: Ref;
  readonly sourceIp: string;
}

/** The panels and channels of the escalated notification, and those of the step; what else rules said about it. */
export type EscalatedRoute = Pick<
  Route,
  'target' | 'channels' | 'group' | 'suppress' | 'acknowledgeForMs' | 'escalates' | 'escalated'
>;

/**
 * Adjusts the decision of the rules for a notification of Belfry itself. One with `only` goes to these panels and nowhere else,
 * whatever the rules say. Throttling is removed from an escalation and from one that is sent in the place of a token, which is also
 * marked; others stay as decided.
 */
export function ownDecision(
  decided: Decision,
  subject: RoutingSubject,
  {
    escalatedTo,
    only,
  }: { readonly escalatedTo?: EscalatedRoute | undefined; readonly only?: Target | undefined },
): Decision {
  if (only) {
    const { level, rank, ttl } = subject;
    const route = { revision: decided.route.revision, rules: [], muted: false, target: only };
    return { level, rank, ttl: ttl ?? decided.ttl, route, throttle: [], escalation: undefined };
  }
  if (escalatedTo) return escalatedDecision(decided, subject, escalatedTo);
  const { origin } = subject;
  return origin === undefined ? decided : { ...decided, throttle: [], route: { ...decided.route, origin } };
}

const escalatedOf = ({ escalated }: Pick<Route, 'escalated'>) => (escalated ? { escalated } : {});

/** A repeat of an escalated notification keeps the escalation's panels, and its level if that is higher. */
export function keepEscalated<T extends Pick<Decision, 'level' | 'rank' | 'route'>>(
  repeat: T,
  escalated: Pick<HistoryRecord, 'id' | 'level' | 'rank' | 'route'>,
): T {
  const { level, rank } = escalated.rank > repeat.rank ? escalated : repeat;
  const target = unite(repeat.route.target, escalated.route.target);
  const kept = { repeats: escalated.route.repeats ?? escalated.id, ...escalatedOf(escalated.route) };
  return { ...repeat, level, rank, route: { ...repeat.route, target, ...kept } };
}

/** What both suppress, and are suppressed by. */
function uniteKeys(a: SuppressKeys | undefined, b: SuppressKeys | undefined): SuppressKeys | undefined {
  if (!a || !b) return a ?? b;
  const causes = new Map([...a.causes, ...b.causes].map((each) => [each.key, each]));
  return { causes: [...causes.values()], follows: [...new Set([...a.follows, ...b.follows])] };
}

/**
 * Keeps the level, and adds the panels and channels of the escalation to those of the rules; a notification that rules mute stays muted. Rules
 * may match the original by fields that the escalation lacks: its token, address and level.
 */
function escalatedDecision(decided: Decision, { level, rank }: RoutingSubject, to: EscalatedRoute): Decision {
  const { route } = decided;
  const channels = [...new Set([...(to.channels ?? []), ...(route.channels ?? [])])];
  // `all` means here that no rule named a panel.
  const target = route.target.all ? to.target : unite(to.target, route.target);
  const { group = to.group, acknowledgeForMs = to.acknowledgeForMs } = route;
  const suppress = uniteKeys(to.suppress, route.suppress);
  const shown = route.muted
    ? {}
    : {
        target,
        ...(channels.length > 0 && { channels }),
        ...(group && { group }),
        ...(suppress && { suppress }),
        ...(acknowledgeForMs !== undefined && { acknowledgeForMs }),
      };
  const { escalates } = to;
  return {
    ...decided,
    ...{ level, rank, throttle: [], escalation: undefined },
    route: { ...route, ...shown, ...(escalates !== undefined && { escalates }), ...escalatedOf(to) },
  };
}
