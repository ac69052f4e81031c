/**
 * What both stores offer: one interface, which `app.ts` opens on SQLite or PostgreSQL. The history and its statistics are the
 * log, with a code of its own for each store; the directory is SQL that both stores share, written for kysely's dialects.
 * `sql.ts` has the tables of the directory, and how statements reach the database. A write is a list of statements that one
 * transaction runs. `meta.ts` has facts about the database as a whole: the epoch, the key it belongs to, whether a transfer is
 * complete. A store that several nodes share also has their leases and rate limits.
 */
import type { LimitStore } from '#core/limits/rate-limits.ts';
import type { History } from '#core/log/log.ts';
import type { ReceiptStore } from '#core/log/receipts.ts';
import type { Statistics } from '#core/log/statistics.ts';
import type { Nodes } from '#core/streams/nodes.ts';
import type { Database } from './sql.ts';

/** The storage of a server. `app.ts` opens it on SQLite or on PostgreSQL. */
export interface Storage {
  /** Why intake does not work, as a sentence; undefined if it works. */
  problem(): string | undefined;
  readonly history: History & ReceiptStore;
  readonly statistics: Statistics;
  readonly db: Database;
  /** The state that several nodes share; undefined if the database can have only one node. */
  readonly nodes?: Nodes;
  /** As {@link nodes}. */
  readonly limits?: LimitStore;
  /**
   * Scans some of the live notifications and removes those that have expired from the live set; returns how many. Each call continues
   * where the last one ended. With a million live notifications, a whole pass may take minutes.
   * Once the clock was set, and at the first call, it also corrects when each notification leaves the live set.
   */
  sweep(now: number): Promise<number>;
  /**
   * Runs a round of retention, and then frees the space of entries that no tenant keeps. If several nodes share the database, only
   * one of them runs each round; on the others nothing happens. undefined if a round needs no such coordination.
   */
  readonly retain?: (round: () => Promise<void>) => Promise<void>;
  /**
   * Indexes some notifications for searches, which find the others more slowly; returns whether there may be more. If several nodes
   * share the database, one at a time does it. undefined if the store indexes by itself.
   */
  readonly indexNext?: () => Promise<boolean>;
  /** Entries of the log that are not indexed yet, in the whole database, as of the last call of {@link indexNext}. */
  readonly indexBacklog?: () => number;
  /** Free bytes on the disk of the database, if it is on this machine; undefined when the system does not say. */
  readonly freeBytes?: () => number | undefined;
  /** How far this node's clock was ahead of the database's at the last sweep; undefined if both have the same clock. */
  readonly clockAheadMs?: () => number;
  /** The number of accepted notifications that are not durable yet. */
  queueDepth(): number;
  /** Resolves when nothing can be stored any more and the process must restart. Usually it never resolves. */
  readonly failed: Promise<Error>;
  /**
   * Finishes accepted writes and releases all resources, within `withinMs` (10 s by default). Returns false when something could
   * not be ended, because the disk or a statement hangs.
   */
  close(withinMs?: number): Promise<boolean>;
}
