/** Prints the tables of docs/scale.md. Run: node bench/scale.ts */
import {
  costs,
  herdSeconds,
  type Load,
  lastPanelMs,
  nodeCapacity,
  panelsInMemory,
  plan,
  primaryCapacity,
  waitForCommit,
} from './scale-model.ts';
import { ms, table, whole } from './statistics.ts';

const loads: Readonly<Record<string, Load>> = {
  'one organisation': { tenants: 1, panels: 300, notifications: 5, shownOn: 30 },
  'a large company': { tenants: 50, panels: 5_000, notifications: 100, shownOn: 50 },
  'a provider': { tenants: 2_000, panels: 100_000, notifications: 1_000, shownOn: 20 },
  'millions of panels': { tenants: 50_000, panels: 2_000_000, notifications: 10_000, shownOn: 20 },
};

const capacityTable = () =>
  table([
    ['what', 'one core, half of it used'],
    ['notifications/s that a node takes, no panels', whole(nodeCapacity())],
    ['writes/s to panels, nothing else', whole(500_000 / costs.writeMicros)],
    ['panels in 2 GiB, half of them used', whole(panelsInMemory(2))],
    ['notifications/s that PostgreSQL stores, 1 core', whole(primaryCapacity(1))],
    ['notifications/s that PostgreSQL stores, 8 cores', whole(primaryCapacity(8))],
  ]);

const planTable = () =>
  table([
    ['load', 'tenants', 'panels', 'notifications/s', 'writes/s', 'cells', 'nodes', 'because of'],
    ...Object.entries(loads).map(([name, load]) => {
      const { cells, nodes, because } = plan(load);
      const { tenants, panels, notifications, shownOn } = load;
      return [
        name,
        ...[tenants, panels, notifications, notifications * shownOn, cells, nodes].map(whole),
        because,
      ];
    }),
  ]);

const waitTable = () =>
  table([
    ['notifications/s of one node', 'p50', 'p99', 'notifications in a commit'],
    ...[10, 100, 500, 1_000, 2_000].map((perSecond) => {
      const { p50, p99, batch } = waitForCommit(perSecond);
      return [whole(perSecond), ms(p50), ms(p99), batch.toFixed(1)];
    }),
  ]);

const herdTable = () =>
  table([
    ['panels of the node that fails', 'nodes that take them', 'the last is back after'],
    ...(
      [
        [1_000, 1],
        [10_000, 1],
        [10_000, 2],
        [10_000, 9],
        [50_000, 9],
      ] as const
    ).map(([panels, nodes]) => [
      whole(panels),
      whole(nodes),
      `${herdSeconds({ panels, nodes, retryMs: [2_000, 8_000] }).toFixed(0)} s`,
    ]),
  ]);

const fanOutTable = () =>
  table([
    ['panels on one node that show it', 'the last one has it after'],
    ...[10, 100, 1_000, 10_000].map((panels) => [whole(panels), ms(lastPanelMs(panels))]),
  ]);

/** In the order of docs/scale.md. */
export const tables = () => [capacityTable(), waitTable(), fanOutTable(), herdTable(), planTable()];

if (import.meta.main) console.log(tables().join('\n\n'));
