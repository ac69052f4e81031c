/** Who sends a notification: a token, or Belfry itself. */
import type { Principal } from './access.ts';
import type { Ref, TenantId } from './ports.ts';
import type { Decision } from './routing/router.ts';
import type { RoutingSubject } from './routing/subject.ts';
import type { Target } from './target.ts';

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

/** The sender's level and the given panels instead of those of rules; what rules mute stays muted. */
export function escalatedDecision(
  decided: Decision,
  { level, rank }: RoutingSubject,
  target?: Target,
): Decision {
  const { route } = decided;
  return {
    ...decided,
    ...{ level, rank, throttle: [], escalation: undefined },
    route: target && !route.muted ? { ...route, target } : route,
  };
}
