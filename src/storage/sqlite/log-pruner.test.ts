import { expect, test } from 'vitest';
import { draft, HistoryModel } from '../../../test/support/history-model.ts';
import { LogPruner } from './log-pruner.ts';
import { LogWriter } from './log-writer.ts';

const now = 2_000_000;
const ahead = now + 1e9;
const old = now - 100;

/** A log whose notifications came at these times; `prune` answers what one call of retention drops of it. */
function logOf(...runs: readonly (readonly [count: number, receivedAt: number])[]) {
  const model = new HistoryModel();
  const { db, tenant } = model;
  const writer = new LogWriter(db);
  const pruner = new LogPruner(db, writer);
  const append = (count: number, receivedAt: number) =>
    model.transaction(() => {
      for (let i = 0; i < count; i++) model.append(draft({ receivedAt, ttl: 1, expiresAt: 1 }));
    });
  for (const run of runs) append(...run);
  const prune = (at = now) => {
    const { dropped } = pruner.prune({ kind: 'prune', tenant, olderThan: at - 50, keep: null, now: at }, 500);
    writer.beforeCommit();
    return dropped;
  };
  return { db, pruner, writer, append, prune };
}

test('many that are ahead of the clock are looked through a stretch at a time', () => {
  const { prune } = logOf([1, old], [25_000, ahead], [1, old], [1, now]);
  expect([prune(), prune(), prune(), prune()]).toEqual([1, 0, 500, 500]);
});

test('those looked through are not looked through again: the next call goes on behind them', () => {
  const { db, append, prune } = logOf([25_000, ahead]);
  expect([prune(), prune(), prune(), prune()]).toEqual([0, 0, 0, 0]);
  // Nothing that is recorded changes: whoever sees this has looked again.
  db.prepare('UPDATE notifications SET received_at = ? WHERE received_at = ? AND entry % 7 = 0').run(
    now,
    ahead,
  );
  append(1, old);
  expect(prune()).toBeGreaterThan(0);
});

test('once the clock has come to one of them, they are looked through anew', () => {
  const { prune } = logOf([12_000, ahead + 1_000], [1, ahead], [1, ahead + 1_000]);
  expect([prune(), prune(), prune()]).toEqual([0, 0, 0]);
  expect([prune(ahead + 60), prune(ahead + 60)]).toEqual([0, 500]);
});

test('what was looked through and then rolled back is forgotten', () => {
  const { db, pruner, writer, append, prune } = logOf([10, ahead]);
  db.exec('BEGIN');
  db.exec('UPDATE logs SET head = head + 1');
  expect(prune()).toBe(0);
  writer.afterRollback();
  pruner.afterRollback();
  db.exec('ROLLBACK');
  append(1, old);
  expect(prune()).toBe(11);
});
