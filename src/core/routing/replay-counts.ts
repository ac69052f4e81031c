/** The counts of a replay for each rule, panel and channel. */
import type { ReplayResponse } from '#contract/routing/routing.ts';
import type { EscalationStep } from '#contract/routing/rule.ts';
import { ownSenderId } from '../intake/own-sender.ts';
import type { Entry } from '../log/log.ts';
import type { Ref, Route } from '../log/route.ts';
import { isEmpty, type PanelAddress, reaches, type Target } from '../log/target.ts';
import { getOrMake } from '../maps.ts';
import type { Recorded } from './explain.ts';
import type { Decision } from './router.ts';

export interface NamedPanel extends PanelAddress {
  readonly name: string;
}

/** The most rules, and panels, that a comparison names. */
const maxNamed = 1_000;
/** With more combinations of panels and targets, panels are not compared, because it would take seconds. */
const maxComparisons = 1_000_000;

/** How many notifications each rule matched, before and after. */
export class RuleMatches {
  readonly #before = new Map<string, number>();
  readonly #after = new Map<string, number>();

  add(before: Route, after: Route): void {
    for (const { id } of before.rules) this.#before.set(id, (this.#before.get(id) ?? 0) + 1);
    for (const { id } of after.rules) this.#after.set(id, (this.#after.get(id) ?? 0) + 1);
  }

  /** Of these rules, those that match or matched. */
  of(rules: readonly Ref[], escalated: ReadonlyMap<string, number>): ReplayResponse['rules'] {
    return rules
      .map(({ id, name }) => ({
        id,
        name,
        matchedBefore: this.#before.get(id) ?? 0,
        matchedAfter: this.#after.get(id) ?? 0,
        escalated: escalated.get(id) ?? 0,
      }))
      .filter(({ matchedBefore, matchedAfter }) => matchedBefore + matchedAfter > 0)
      .slice(0, maxNamed);
  }
}

interface TargetCount {
  readonly target: Target;
  shownBefore: number;
  shownAfter: number;
}

/** How many notifications each panel shows, before and after. */
export class PanelShowings {
  readonly #panels: readonly NamedPanel[];
  readonly #targets = new Map<string, TargetCount>();

  constructor(panels: readonly NamedPanel[]) {
    this.#panels = panels;
  }

  add(when: 'shownBefore' | 'shownAfter', { muted, target }: Route): void {
    if (muted || isEmpty(target)) return;
    const key = target.all ? 'all' : JSON.stringify([target.ids, target.tags]);
    getOrMake(this.#targets, key, () => ({ target, shownBefore: 0, shownAfter: 0 }))[when] += 1;
  }

  /** The panels that would show more or fewer. */
  changed(): ReplayResponse['panels'] {
    if (this.#panels.length * this.#targets.size > maxComparisons) return [];
    return this.#panels
      .map((panel) => {
        const own = { id: panel.id, name: panel.name, shownBefore: 0, shownAfter: 0 };
        for (const { target, shownBefore, shownAfter } of this.#targets.values()) {
          if (!reaches(target, panel)) continue;
          own.shownBefore += shownBefore;
          own.shownAfter += shownAfter;
        }
        return own;
      })
      .filter(({ shownBefore, shownAfter }) => shownBefore !== shownAfter)
      .slice(0, maxNamed);
  }
}

export interface ReplayChannel {
  readonly id: string;
  readonly name: string;
  readonly enabled: boolean;
}

/** How many notifications each channel is sent, before and after. */
export class ChannelSendings {
  readonly #counts = new Map<string, { sentBefore: number; sentAfter: number }>();

  add(when: 'sentBefore' | 'sentAfter', { muted, channels = [] }: Route): void {
    if (muted) return;
    for (const id of channels) {
      const counted = this.#counts.get(id) ?? { sentBefore: 0, sentAfter: 0 };
      counted[when] += 1;
      this.#counts.set(id, counted);
    }
  }

  /** Of these, the channels that would be sent more or fewer; one that is not enabled is sent none. */
  changed(before: readonly ReplayChannel[], after: readonly ReplayChannel[]): ReplayResponse['channels'] {
    const [was, is] = [before, after].map((all) => new Map(all.map((channel) => [channel.id, channel])));
    return [...new Map([...(was ?? []), ...(is ?? [])]).values()]
      .map(({ id, name }) => {
        const { sentBefore = 0, sentAfter = 0 } = this.#counts.get(id) ?? {};
        return {
          ...{ id, name },
          sentBefore: was?.get(id)?.enabled ? sentBefore : 0,
          sentAfter: is?.get(id)?.enabled ? sentAfter : 0,
        };
      })
      .filter(({ sentBefore, sentAfter }) => sentBefore !== sentAfter);
  }
}

/** How many alarms of a replayed history would have escalated. */

/** Returns when a panel first showed each of the notifications; those that none has shown are missing. */
export type FirstShown = (ids: readonly string[]) => Promise<ReadonlyMap<string, number>>;

const askedAtOnce = 500;

/** One alarm: from the first notification of a key (or one without a key) until it has left the panels. */
interface Alarm {
  readonly key: string | null;
  readonly ruleId: string;
  readonly step: EscalationStep;
  readonly dueAt: number;
  /** The ids of its notifications, and of the escalations that were sent. */
  readonly ids: string[];
  /** The rank of the newest. */
  rank: number;
  expiresAt: number | null;
  /** When it was acknowledged or ended; undefined before that. */
  endedAt: number | undefined;
}

/**
 * Reads the log in order and decides whether the first step of a rule would have been sent: unless the alarm was acknowledged,
 * cleared, replaced or had expired by then. Recorded escalations count as part of their alarm.
 */
export class ReplayedEscalations {
  readonly #firstShown: FirstShown;
  readonly #alarms: Alarm[] = [];
  readonly #byId = new Map<string, Alarm>();
  readonly #byKey = new Map<string, Alarm>();

  constructor(firstShown: FirstShown) {
    this.#firstShown = firstShown;
  }

  /** `isShown`: by the replayed rules. */
  add(record: Recorded, decision: Decision, isShown: boolean): void {
    const { id, key, receivedAt } = record;
    const known = key === null ? undefined : this.#byKey.get(key);
    const standing = known && isStanding(known, receivedAt) ? known : undefined;
    if (record.tokenId === ownSenderId('escalation')) {
      // Without a key, the escalation names the escalated notification.
      const escalated = standing ?? this.#byId.get(record.route.escalates ?? '');
      if (escalated) this.#join(escalated, id);
      return;
    }
    if (!isShown) return;
    const expiresAt = decision.ttl === 0 ? null : receivedAt + decision.ttl;
    const isTaken = standing?.endedAt !== undefined;
    const isNews = decision.rank > (standing?.rank ?? 0) || record.route.origin !== undefined;
    if (standing && decision.escalation && !(isTaken && isNews)) {
      Object.assign(standing, { rank: decision.rank, expiresAt });
      this.#join(standing, id);
      return;
    }
    // Another notification replaced it.
    if (known && key !== null) {
      this.#end(known, receivedAt);
      this.#byKey.delete(key);
    }
    const [step] = decision.escalation?.steps ?? [];
    if (!decision.escalation || !step) return;
    const { rule } = decision.escalation;
    const alarm: Alarm = {
      ...{ key, ruleId: rule.id, step, dueAt: receivedAt + step.afterMs },
      ...{ ids: [], rank: decision.rank, expiresAt, endedAt: undefined },
    };
    this.#alarms.push(alarm);
    this.#join(alarm, id);
    if (key !== null) this.#byKey.set(key, alarm);
  }

  change(entry: Exclude<Entry, { kind: 'notification' }>): void {
    const alarm = this.#byId.get(entry.id);
    // The replacement arrives as a notification of its own.
    if (!alarm || entry.kind === 'return' || (entry.kind === 'clear' && entry.reason === 'replaced')) return;
    if (entry.kind === 'clear' && entry.by === ownSenderId('escalation')) return;
    this.#end(alarm, entry.at);
    if (entry.kind !== 'clear') return;
    if (alarm.key !== null && this.#byKey.get(alarm.key) === alarm) this.#byKey.delete(alarm.key);
  }

  #join(alarm: Alarm, id: string): void {
    alarm.ids.push(id);
    this.#byId.set(id, alarm);
  }

  #end(alarm: Alarm, at: number): void {
    alarm.endedAt = Math.min(alarm.endedAt ?? at, at);
  }

  /** How many alarms would have escalated by each rule, until `now`. */
  async counts(now: number): Promise<ReadonlyMap<string, number>> {
    const due = this.#alarms.filter(
      ({ dueAt, endedAt, expiresAt }) =>
        dueAt <= now && (endedAt ?? Infinity) >= dueAt && (expiresAt ?? Infinity) >= dueAt,
    );
    const shown = await this.#shownOf(due.filter(({ step }) => step.unless === 'shown'));
    const counts = new Map<string, number>();
    for (const { ruleId, step, dueAt, ids } of due) {
      const isShown = step.unless === 'shown' && ids.some((id) => (shown.get(id) ?? Infinity) <= dueAt);
      if (!isShown) counts.set(ruleId, (counts.get(ruleId) ?? 0) + 1);
    }
    return counts;
  }

  async #shownOf(alarms: readonly Alarm[]): Promise<ReadonlyMap<string, number>> {
    const ids = alarms.flatMap((alarm) => alarm.ids);
    const shown = new Map<string, number>();
    for (let at = 0; at < ids.length; at += askedAtOnce)
      for (const [id, time] of await this.#firstShown(ids.slice(at, at + askedAtOnce))) shown.set(id, time);
    return shown;
  }
}

/** Still on panels. */
const isStanding = ({ expiresAt }: Alarm, at: number) => expiresAt === null || expiresAt > at;
