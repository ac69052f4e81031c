import { describe, expect, test } from 'vitest';
import {
  checkHistory,
  type PanelLog,
  problemsOf,
  type Recorded,
  type Sent,
} from '#test/support/history-checker.ts';

/** Ten notifications, one after the other, each acknowledged before the next is sent. */
const sent: readonly Sent[] = Array.from({ length: 10 }, (_, i) => ({
  name: `a-${i + 1}`,
  sentAt: i * 10,
  acknowledgedAt: i * 10 + 5,
  id: `id-${i + 1}`,
}));
const history: readonly Recorded[] = sent.map(({ name, id }, i) => ({
  position: i + 1,
  name,
  id: id as string,
}));
const panel: PanelLog = { panel: 'wall', from: 2, to: 10, seen: history.slice(2) };

const at = (n: number) => history[n - 1] as Recorded;
const without = (n: number) => history.filter(({ position }) => position !== n);
const unanswered = (n: number) =>
  sent.map((each, i) => (i === n - 1 ? { ...each, acknowledgedAt: null, id: null } : each));

describe('the history checker', () => {
  test('finds nothing wrong with a history in which everything acknowledged stands once and in order', () => {
    const verdict = checkHistory(sent, history, [panel]);
    expect(problemsOf(verdict)).toEqual([]);
    expect(verdict).toMatchObject({ ok: 10, unknown: 0 });
  });

  test('takes entries in any order, and a history that starts in the middle', () => {
    expect(problemsOf(checkHistory(sent.slice(4), history.slice(4).toReversed(), [], 4))).toEqual([]);
  });

  test('leaves open what becomes of a notification that was never acknowledged', () => {
    expect(checkHistory(unanswered(10), history)).toMatchObject({ ok: 9, unknown: 1, unknownRecorded: 1 });
    const absent = checkHistory(unanswered(10), without(10));
    expect(absent).toMatchObject({ ok: 9, unknown: 1, unknownRecorded: 0 });
    expect(problemsOf(absent)).toEqual([]);
  });

  test('lets what was sent at the same time stand in either order', () => {
    const together = sent.map((each) => ({ ...each, sentAt: 0, acknowledgedAt: 5 }));
    const mixed = history.map((entry) => ({ ...entry, position: 11 - entry.position }));
    expect(problemsOf(checkHistory(together, mixed))).toEqual([]);
  });

  test('lets an entry that is no notification take a position', () => {
    const cleared = [...history, { position: 11, name: null, id: 'id-3' }];
    expect(problemsOf(checkHistory(sent, cleared))).toEqual([]);
  });
});

describe('the history checker catches', () => {
  const caught = (verdict: ReturnType<typeof checkHistory>) => problemsOf(verdict).join('\n');

  test('an acknowledged notification that is absent', () => {
    expect(checkHistory(sent, without(10)).lost).toEqual(['a-10']);
    expect(caught(checkHistory(sent, without(4)))).toContain('1 lost: a-4');
  });

  test('a notification that nobody sent', () => {
    const extra = [...history, { position: 11, name: 'b-1', id: 'x' }];
    expect(checkHistory(sent, extra).phantom).toEqual(['b-1']);
  });

  test('a notification that is recorded twice', () => {
    expect(checkHistory(sent, [...history, { ...at(10), position: 11 }]).repeated).toEqual(['a-10']);
  });

  test('a position left out, used twice, or not starting at the first', () => {
    const shifted = history.map((entry) => ({ ...entry, position: entry.position + 1 }));
    expect(caught(checkHistory(sent, shifted))).toContain('position 2 stands where 1 should');
    const hole = history.map((entry) =>
      entry.position > 5 ? { ...entry, position: entry.position + 1 } : entry,
    );
    expect(caught(checkHistory(sent, hole))).toContain('position 7 stands where 6 should');
    const twice = history.map((entry) => (entry.position === 6 ? { ...entry, position: 5 } : entry));
    expect(caught(checkHistory(sent, twice))).toContain('position 5 stands where 6 should');
  });

  test('an answer that names another id than the record has', () => {
    const other = history.map((entry) => (entry.position === 3 ? { ...entry, id: 'other' } : entry));
    expect(caught(checkHistory(sent, other))).toContain(
      'a-3 was answered with the id id-3 and recorded with other',
    );
    expect(checkHistory(sent, other).ok).toBe(9);
  });

  test('a notification that overtook one acknowledged before it was sent', () => {
    const swapped = history.map((entry) => {
      if (entry.position === 4) return { ...entry, position: 7 };
      return entry.position === 7 ? { ...entry, position: 4 } : entry;
    });
    expect(caught(checkHistory(sent, swapped))).toContain('a-7 stands before');
  });

  test('a sender that names two notifications alike, which would hide a loss', () => {
    expect(caught(checkHistory([...sent, sent[0] as Sent], history))).toContain('a name twice');
  });

  test('a panel that misses one, gets one twice, out of order, late, or another than history has', () => {
    const check = (seen: PanelLog['seen']) => caught(checkHistory(sent, history, [{ ...panel, seen }]));
    const { seen } = panel;
    expect(check(seen.filter(({ position }) => position !== 6))).toContain(
      'position 7 where 6 should have come',
    );
    expect(check([...seen, at(10)])).toContain('position 10 where 11 should have come');
    expect(check(seen.toReversed())).toContain('position 10 where 3 should have come');
    expect(check(seen.slice(1))).toContain('position 4 where 3 should have come');
    expect(check(seen.slice(0, -1))).toContain('got nothing after position 9, and 10 was there');
    expect(check([])).toContain('got nothing after position 2');
    expect(check(seen.map((one) => (one.position === 6 ? { ...one, name: 'a-7' } : one)))).toContain(
      'got a-7 at position 6',
    );
  });
});
