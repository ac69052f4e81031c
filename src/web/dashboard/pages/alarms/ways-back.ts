/** How an action on alarms is undone. A cleared alarm has ended: that cannot be undone. */
import type { Alarm, AlarmAction, AlarmActions } from '#contract/history/alarm.ts';

/** What is sent besides the action and its alarms. */
export type Details = Pick<AlarmActions, 'note' | 'untilMs' | 'forMs' | 'take' | 'userId'>;

/** A request that undoes an action for some of its alarms. */
export interface WayBack {
  readonly action: AlarmAction;
  readonly ids: readonly string[];
  readonly details: Details;
}

type Step = Omit<WayBack, 'ids'>;

/** The requests that undo an action, in this order. What was there before may differ from alarm to alarm. */
export function waysBack(action: AlarmAction, alarms: readonly Alarm[], now: number): readonly WayBack[] {
  const ways = new Map<string, { step: Step; ids: string[] }>();
  // A shelf takes an acknowledgement away, so that it is given again after the shelf has ended.
  for (const nth of [0, 1])
    for (const alarm of alarms) {
      const step = stepsBack(action, alarm, now)[nth];
      if (!step) continue;
      const name = JSON.stringify([nth, step]);
      const known = ways.get(name) ?? { step, ids: [] };
      known.ids.push(alarm.id);
      ways.set(name, known);
    }
  return [...ways.values()].map(({ step, ids }) => ({ ...step, ids }));
}

function stepsBack(action: AlarmAction, alarm: Alarm, now: number): readonly Step[] {
  const { acknowledged, shelved, owner } = alarm;
  switch (action) {
    case 'acknowledge':
      return acknowledged ? acknowledgeAgain(acknowledged, now) : [{ action: 'unacknowledge', details: {} }];
    case 'unacknowledge':
      return acknowledged ? acknowledgeAgain(acknowledged, now) : [];
    case 'shelve':
      if (shelved) return shelveAgain(shelved, now);
      return [
        { action: 'unshelve', details: {} },
        ...(acknowledged ? acknowledgeAgain(acknowledged, now) : []),
      ];
    case 'unshelve':
      return shelved ? shelveAgain(shelved, now) : [];
    case 'assign':
      return [{ action, details: { userId: owner?.id ?? null } }];
    case 'clear':
      return [];
  }
}

/** With the same note and end; its time and name are those of the person who undoes it. */
function acknowledgeAgain({ note, until }: NonNullable<Alarm['acknowledged']>, now: number): readonly Step[] {
  const end = lasting(until);
  if (end.untilMs !== undefined && end.untilMs <= now) return [];
  return [{ action: 'acknowledge', details: { take: true, ...end, ...withNote(note) } }];
}

function shelveAgain({ note, until }: NonNullable<Alarm['shelved']>, now: number): readonly Step[] {
  const untilMs = Date.parse(until);
  return untilMs <= now ? [] : [{ action: 'shelve', details: { untilMs, ...withNote(note) } }];
}

/** An acknowledgement with the end of another one. */
export const lasting = (until: string | null): Pick<Details, 'untilMs' | 'forMs'> =>
  until === null ? { forMs: 0 } : { untilMs: Date.parse(until) };

const withNote = (note: string | null) => (note === null ? {} : { note });
