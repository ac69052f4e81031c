/**
 * Capacity model for installations of any size: arithmetic and small simulations. A test compares `costs`
 * and the results with bench/RESULTS.md and docs/reliability.md. docs/scale.md explains the results.
 */
import { backoffMs } from '#contract/backoff.ts';
import { Dice } from './history-text.ts';

/** Costs on one core of the machine in bench/RESULTS.md; docs/scale.md says which are measured and which fitted. */
export const costs = {
  /** Processor time of a node for accepting a notification with PostgreSQL, in µs. */
  nodeMicros: 141,
  /** Processor time of PostgreSQL for one notification, in µs. */
  primaryMicros: 120,
  /** Processor time of a node for one write to a panel, in µs. */
  writeMicros: 7,
  /** Processor time for connecting a panel, with its queries and live set, in µs, including the panel's own side. */
  connectMicros: 2_700,
  /** Memory of a node without panels, in MiB, and of each panel, in KiB. */
  nodeMiB: 137,
  panelKiB: 21,
  /** A commit of one batch: the round trip and the fsync, in ms, and what each notification adds. */
  commitMs: 2.8,
  appendMs: 0.152,
} as const;

/** The planned use of a core or primary. More would leave no reserve for bursts and the loss of a node. */
export const planned = 0.5;

/** The most nodes of one primary: a node has up to 15 connections, and more than about 450 slow PostgreSQL down. */
const nodesOfPrimary = 30;

/** As in storage/postgres/log/append-queue.ts. */
const mostInBatch = 256;

export interface Load {
  readonly tenants: number;
  readonly panels: number;
  /** Notifications a second, of all tenants. */
  readonly notifications: number;
  /** The number of panels that show a notification. */
  readonly shownOn: number;
}

export interface Machines {
  /** The number of nodes, each with one core and `nodeGiB` of memory. */
  readonly nodes: number;
  readonly nodeGiB: number;
  /** What determines the number of nodes. */
  readonly because: 'availability' | 'notifications' | 'writes to panels' | 'memory of panels';
  /** PostgreSQL primaries, each with its standby: cells. */
  readonly cells: number;
  readonly primaryCores: number;
}

/** The installation that a load needs at the planned use. Each cell has its own nodes, and one more than the load needs. */
export function plan(load: Load, { nodeGiB = 2, primaryCores = 8 } = {}): Machines {
  const core = 1e6 * planned;
  const needs = {
    notifications: (load.notifications * costs.nodeMicros) / core,
    events: (load.notifications * load.shownOn * costs.writeMicros) / core,
    memory: load.panels / panelsInMemory(nodeGiB),
  };
  const processor = needs.notifications + needs.events;
  const needed = Math.max(processor, needs.memory);
  const cells = Math.max(
    Math.ceil(load.notifications / primaryCapacity(primaryCores)),
    Math.ceil(needed / (nodesOfPrimary - 1)),
  );
  const perCell = Math.ceil(needed / cells) + 1;
  const because =
    perCell <= 2
      ? 'availability'
      : needs.memory > processor
        ? 'memory of panels'
        : needs.events > needs.notifications
          ? 'writes to panels'
          : 'notifications';
  return { nodes: cells * Math.max(2, perCell), nodeGiB, because, cells, primaryCores };
}

/** Notifications a second that a primary takes at the planned use. */
export const primaryCapacity = (cores: number) => Math.floor((cores * planned * 1e6) / costs.primaryMicros);

/** The number of panels that use half of a node's memory beside its own. */
export const panelsInMemory = (nodeGiB: number) =>
  Math.floor(((nodeGiB * 1024 * planned - costs.nodeMiB) * 1024) / costs.panelKiB);

/** Notifications a second that a node with one core takes at the planned use, when it has no panels. */
export const nodeCapacity = () => Math.floor((planned * 1e6) / costs.nodeMicros);

/** How long until the last panel of a node has an event for all of them, in ms: the writes, and equally long pauses. */
export const lastPanelMs = (panels: number) => (2 * panels * costs.writeMicros) / 1000;

/** The latency of a sender at a rate, in ms, for one node that commits batches one after the other (simulated). */
export function waitForCommit(perSecond: number, seconds = 20): { p50: number; p99: number; batch: number } {
  const dice = new Dice(1);
  const until = seconds * 1000;
  const arrival = () => (-Math.log(1 - dice.next()) / perSecond) * 1000;
  const waits: number[] = [];
  let [now, next, batches] = [0, arrival(), 0];
  let waiting: number[] = [];
  while (now < until) {
    if (waiting.length === 0) now = Math.max(now, next);
    for (; next <= now; next += arrival()) waiting.push(next);
    const batch = waiting.slice(0, mostInBatch);
    waiting = waiting.slice(mostInBatch);
    now += costs.commitMs + batch.length * costs.appendMs;
    batches += 1;
    for (const at of batch) waits.push(now - at);
  }
  waits.sort((a, b) => a - b);
  const at = (q: number) => waits[Math.floor(q * waits.length)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99), batch: waits.length / batches };
}

export interface Herd {
  readonly panels: number;
  /** Nodes that take them. */
  readonly nodes: number;
  /** The range of a stream's `retry`, random for each panel. */
  readonly retryMs: readonly [least: number, most: number];
}

/** How long until all panels of a lost node have reconnected to others with their backoff (simulated), in s. */
export function herdSeconds({ panels, nodes, retryMs: [least, most] }: Herd): number {
  const dice = new Dice(1);
  const random = () => dice.next();
  const arrivals = Array.from({ length: panels }, () =>
    backoffMs(0, { baseMs: least + random() * (most - least), capMs: 30_000 }, random()),
  ).sort((a, b) => a - b);
  const free = new Float64Array(nodes);
  for (const [i, at] of arrivals.entries()) {
    const node = i % nodes;
    free[node] = Math.max(free[node] as number, at) + costs.connectMicros / 1000;
  }
  return Math.max(...free) / 1000;
}
