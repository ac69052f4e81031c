/** The counts of a replay for each rule, panel and channel. */
import type { ReplayResponse } from '#contract/routing/routing.ts';
import type { Ref, Route } from '../../ports.ts';
import { isEmpty, type PanelAddress, reaches, type Target } from '../../target.ts';

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
    let counted = this.#targets.get(key);
    if (!counted) {
      counted = { target, shownBefore: 0, shownAfter: 0 };
      this.#targets.set(key, counted);
    }
    counted[when] += 1;
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
