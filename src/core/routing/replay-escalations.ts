/** How many alarms of a replayed history would have escalated. */
import type { EscalationStep } from '#contract/rule.ts';
import { ownSenderId } from '../own-sender.ts';
import type { Acknowledgement, Clear } from '../ports.ts';
import type { Recorded } from './recorded.ts';
import type { Decision } from './router.ts';

/** From the first notification of a key, or one without, until it has left the panels. */
interface Alarm {
  readonly ruleId: string;
  readonly step: EscalationStep;
  readonly dueAt: number;
  /** Of the newest. */
  id: string;
  rank: number;
  expiresAt: number | null;
  /** Of any of its notifications, or what ended it; undefined while nothing did. */
  endedAt: number | undefined;
}

/**
 * Takes the log in its order. Whether the first step of a rule would have been sent is decided by what the log tells of the time until then: who acknowledged
 * or cleared the alarm, what took its place, when it expired. Escalations that were sent then are seen as the alarm itself.
 */
export class ReplayedEscalations {
  readonly #wasShown: (id: string) => Promise<boolean>;
  readonly #alarms: Alarm[] = [];
  readonly #byId = new Map<string, Alarm>();
  readonly #byKey = new Map<string, Alarm>();

  /** `wasShown`: whether a panel has shown a notification. */
  constructor(wasShown: (id: string) => Promise<boolean>) {
    this.#wasShown = wasShown;
  }

  /** `isShown`: by the replayed rules. */
  add(record: Recorded, decision: Decision, isShown: boolean): void {
    const { id, key, receivedAt } = record;
    const known = key === null ? undefined : this.#byKey.get(key);
    const standing = known && isStanding(known, receivedAt) ? known : undefined;
    if (record.tokenId === ownSenderId('escalation')) {
      if (standing) this.#byId.set(id, standing);
      return;
    }
    if (!isShown) return;
    const expiresAt = decision.ttl === 0 ? null : receivedAt + decision.ttl;
    const isTaken = standing?.endedAt !== undefined;
    if (standing && decision.escalation && !(isTaken && decision.rank > standing.rank)) {
      Object.assign(standing, { id, rank: decision.rank, expiresAt });
      this.#byId.set(id, standing);
      return;
    }
    // Something else took its place.
    if (known && key !== null) {
      this.#end(known, receivedAt);
      this.#byKey.delete(key);
    }
    const [step] = decision.escalation?.steps ?? [];
    if (!decision.escalation || !step) return;
    const { rule } = decision.escalation;
    const alarm: Alarm = {
      ...{ ruleId: rule.id, step, dueAt: receivedAt + step.afterMs },
      ...{ id, rank: decision.rank, expiresAt, endedAt: undefined },
    };
    this.#alarms.push(alarm);
    this.#byId.set(id, alarm);
    if (key !== null) this.#byKey.set(key, alarm);
  }

  change(entry: Clear | Acknowledgement): void {
    const alarm = this.#byId.get(entry.id);
    // What takes its place comes as a notification.
    if (!alarm || (entry.kind === 'clear' && entry.reason === 'replaced')) return;
    if (entry.kind === 'clear' && entry.by === ownSenderId('escalation')) return;
    this.#end(alarm, entry.at);
    if (entry.kind === 'acknowledgement') return;
    for (const [key, each] of this.#byKey) if (each === alarm) this.#byKey.delete(key);
  }

  #end(alarm: Alarm, at: number): void {
    alarm.endedAt = Math.min(alarm.endedAt ?? at, at);
  }

  /** How many alarms would have escalated by each rule, until `now`. */
  async counts(now: number): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>();
    for (const { ruleId, step, dueAt, endedAt, expiresAt, id } of this.#alarms) {
      const isOver = dueAt > now || (endedAt ?? Infinity) < dueAt || (expiresAt ?? Infinity) < dueAt;
      if (isOver || (step.unless === 'shown' && (await this.#wasShown(id)))) continue;
      counts.set(ruleId, (counts.get(ruleId) ?? 0) + 1);
    }
    return counts;
  }
}

/** Still on panels. */
const isStanding = ({ expiresAt }: Alarm, at: number) => expiresAt === null || expiresAt > at;
