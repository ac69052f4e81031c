/** The arithmetic of docs/scale.md against what was measured. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tables } from '#bench/scale.ts';
import { costs, herdSeconds, lastPanelMs, plan, waitForCommit } from '#bench/scale-model.ts';
import { root } from '../support/server-process.ts';

const read = (file: string) => readFileSync(join(root, file), 'utf8');
const results = read('bench/RESULTS.md');

/** A cell of a table of RESULTS.md, by its row and column: the first number in it. */
function measured(section: string, row: string, column: string): number {
  const part = results.split(/^## /m).find((each) => each.startsWith(`${section}:`)) ?? '';
  const lines = part.split('\n').filter((line) => line.startsWith('| '));
  const cells = (line: string) => line.split('|').map((cell) => cell.trim());
  const at = lines.findIndex((line) => line.startsWith(`| ${row} |`));
  const head = lines.slice(0, at).findLast((line) => cells(line).includes(column));
  const cell = cells(lines[at] ?? '')[cells(head ?? '').indexOf(column)] ?? '';
  const value = Number.parseFloat(cell.replaceAll(',', ''));
  if (Number.isNaN(value)) throw new Error(`RESULTS.md has no ${column} of ${row} in ${section}`);
  return value;
}

/** Whether two figures are the same but for noise: within this factor of each other. */
const within = (factor: number, a: number, b: number) => Math.max(a / b, b / a) <= factor;

const oneNode = 'PostgreSQL, 1 node';

test('the costs are those that were measured', () => {
  expect(costs.nodeMicros).toBe(measured('nodes', oneNode, 'nodes'));
  expect(costs.primaryMicros).toBe(measured('nodes', oneNode, 'primary'));
  expect(
    within(
      1.1,
      costs.panelKiB,
      (measured('memory', '10,000 idle panels', 'at most') -
        measured('memory', '10,000 idle panels', 'before')) *
        0.1024,
    ),
  ).toBe(true);
  expect(within(1.25, costs.nodeMiB, measured('nodes', oneNode, 'a node, RSS'))).toBe(true);
});

/** These costs were chosen by what follows from them: that it does says that they are not out of date, and no more. */
test('the costs that are fitted still fit', () => {
  // 64 connections that wait for each other's batches: as many in one commit.
  const waitMs = 64_000 / measured('nodes', oneNode, 'notifications/s');
  expect(within(1.25, costs.commitMs + 64 * costs.appendMs, waitMs)).toBe(true);
  const herd = /(\d+) panels \| all connected (\d+) ms/.exec(read('docs/reliability.md'));
  const predicted = herdSeconds({ panels: Number(herd?.[1]), nodes: 1, retryMs: [0, 1_000] });
  expect(within(1.25, predicted, Number(herd?.[2]) / 1000)).toBe(true);
});

test('64 connections wait as long as their number and the rate say', () => {
  for (const row of ['SQLite', oneNode])
    expect(
      within(1.3, 64_000 / measured('nodes', row, 'notifications/s'), measured('nodes', row, 'p50')),
    ).toBe(true);
});

test('what a sender waits for at a low rate is most of what a panel waits for', () => {
  const { p50 } = waitForCommit(100);
  const delivered = measured('nodes', 'PostgreSQL, the same node', 'p50');
  expect(p50).toBeLessThan(delivered);
  expect(p50).toBeGreaterThan(delivered / 3);
});

test('the last of many panels has an event when it was measured to', () => {
  const p99 = (panels: string) => measured('growth', `panels connected | ${panels}`, 'p99');
  for (const panels of ['1,000', '10,000'])
    expect(within(1.5, p99('1') + lastPanelMs(Number(panels.replace(',', ''))), p99(panels))).toBe(true);
});

test('more of anything needs no fewer machines, and every node more than it needs', () => {
  const load = { tenants: 10, panels: 1_000, notifications: 10, shownOn: 10 };
  const nodes = (over: Partial<typeof load>) => plan({ ...load, ...over }).nodes;
  expect(nodes({})).toBe(2);
  for (const key of ['panels', 'notifications', 'shownOn'] as const) {
    const counts = [1, 10, 100, 1_000, 10_000].map((times) => nodes({ [key]: load[key] * times }));
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect(counts.at(-1)).toBeGreaterThan(10);
  }
});

test('docs/scale.md has the tables as they are computed', () => {
  const page = read('docs/scale.md');
  for (const table of tables()) expect(page).toContain(table);
});
