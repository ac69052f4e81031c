/**
 * What installations of any size need, by arithmetic and small simulations. `costs` are measured: a test holds them, and what
 * follows from them, against bench/RESULTS.md and docs/reliability.md. docs/scale.md explains the results.
 */
import { backoffMs } from '#client/backoff.ts';
import { Dice } from './history-text.ts';

/** Of one core of the machine that bench/RESULTS.md names. */
export const costs = {
  /** Processor time of a node for a notification that it takes, in µs, on PostgreSQL. */
  nodeMicros: 160,
  /** Of PostgreSQL's processes for one notification, in µs. */
  primaryMicros: 132,
  /** Of the node of a panel for one write to it, in µs. */
  writeMicros: 7,
  /** Of a node for a panel that connects, with its look-ups and first live set, in µs; the panel's own side included. */
  connectMicros: 2_700,
  /** Memory of a node without panels, in MiB, and of each panel, in KiB. */
  nodeMiB: 137,
  panelKiB: 21,
  /** A commit of one batch: the round trip and the fsync, in ms, and what each notification adds. */
  commitMs: 3.5,
  appendMs: 0.195,
} as const;

/** A core or primary that is planned to be busier than this has no reserve for bursts and for the loss of a node. */
export const planned = 0.5;

/** A node has up to 15 connections; more than some 450 cost PostgreSQL more than they bring. */
const nodesOfPrimary = 30;

/** As storage/postgres/append-queue.ts has it. */
const mostInBatch = 256;

export interface Load {
  readonly tenants: number;
  readonly panels: number;
  /** Notifications a second, of all tenants. */
  readonly notifications: number;
  /** Panels that a notification is shown on. */
  readonly shownOn: number;
}

export interface Machines {
  /** Nodes of one core and so much memory each. */
  readonly nodes: number;
  readonly nodeGiB: number;
  /** What the number of nodes follows from. */
  readonly because: 'availability' | 'notifications' | 'writes to panels' | 'memory of panels';
  /** PostgreSQL primaries, each with its standby: cells. */
  readonly cells: number;
  readonly primaryCores: number;
}

/** What a load needs, at the planned use: each cell has its own nodes, and one more than the load needs. */
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

/** Panels whose memory is half of a node's, beside its own. */
export const panelsInMemory = (nodeGiB: number) =>
  Math.floor(((nodeGiB * 1024 * planned - costs.nodeMiB) * 1024) / costs.panelKiB);

/** Notifications a second that a node with one core takes at the planned use, when it has no panels. */
export const nodeCapacity = () => Math.floor((planned * 1e6) / costs.nodeMicros);

/** Until the last of a node's panels has an event that all of them get, in ms: a write for each, and pauses as long. */
export const lastPanelMs = (panels: number) => (2 * panels * costs.writeMicros) / 1000;

/** What a sender waits for at a rate, in ms: one node whose batches are committed one after the other (simulated). */
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
  /** As a stream's `retry` says: each panel's own, between these. */
  readonly retryMs: readonly [least: number, most: number];
}

/** Panels that lost their node come back to others by their backoff (simulated): when the last is connected, in s. */
export function herdSeconds({ panels, nodes, retryMs: [least, most] }: Herd): number {
  const dice = new Dice(1);
  const random = () => dice.next();
  const arrivals = Array.from({ length: panels }, () =>
    backoffMs(0, { baseMs: least + random() * (most - least), capMs: 30_000, random }),
  ).sort((a, b) => a - b);
  const free = new Float64Array(nodes);
  for (const [i, at] of arrivals.entries()) {
    const node = i % nodes;
    free[node] = Math.max(free[node] as number, at) + costs.connectMicros / 1000;
  }
  return Math.max(...free) / 1000;
}
