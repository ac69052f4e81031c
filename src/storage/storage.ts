import type { LimitStore } from '#core/limits.ts';
import type { Nodes } from '#core/nodes.ts';
import type { History, StorageHealth } from '#core/ports.ts';
import type { ReceiptStore } from '#core/receipts.ts';
import type { Statistics } from '#core/statistics.ts';
import type { Builder } from './schema.ts';
import type { SqlExecutor } from './sql.ts';

/** What a server needs of a database: SQLite's and PostgreSQL's are opened in `app.ts`. */
export interface Storage extends StorageHealth {
  readonly history: History & ReceiptStore;
  readonly statistics: Statistics;
  /** Writes the directory's queries in the database's dialect; `executor` runs them. */
  readonly builder: Builder;
  readonly executor: SqlExecutor;
  /** What several nodes share; undefined where one node has the database to itself. */
  readonly nodes?: Nodes;
  /** As {@link nodes}. */
  readonly limits?: LimitStore;
  /**
   * Scans some of the live notifications and removes those that have expired from the live set; returns how many. Each call continues
   * where the last one ended. With a million live notifications, a whole pass may take minutes.
   */
  sweep(now: number): Promise<number>;
  /**
   * Runs a round of retention, and then gives back the space of what no tenant keeps. Of nodes that share the database, one at
   * a time runs it, and each round once: on the others nothing happens. undefined where a round needs nothing around it.
   */
  readonly retain?: (round: () => Promise<void>) => Promise<void>;
  /**
   * Indexes some notifications for searches, which find the others more slowly; answers whether there may be more. Of nodes that
   * share the database, one at a time does it. undefined where the database does so by itself.
   */
  readonly indexNext?: () => Promise<boolean>;
  /** Entries of the log that are not indexed yet, in the whole database, as of the last call of {@link indexNext}. */
  readonly indexBacklog?: () => number;
  /** How far this node's clock was ahead of the database's at the last sweep; undefined where both are one. */
  readonly clockAheadMs?: () => number;
  /** Notifications accepted and not yet durable. */
  queueDepth(): number;
  /** Resolves when nothing can be stored any more and the process must be started again; most never do. */
  readonly failed: Promise<Error>;
  /**
   * Finishes what was accepted and gives back all it holds. Takes `withinMs` at the most (10 s when not given); answers false
   * when something could not be ended, because the disk or a statement hangs.
   */
  close(withinMs?: number): Promise<boolean>;
}
