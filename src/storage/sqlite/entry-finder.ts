import type { Db } from './database.ts';
import { entryOf, positionMask, uuidToBlob } from './rows.ts';

interface Found {
  readonly position: number;
  readonly rank: number;
  readonly route: number;
  readonly receivedAt: number;
}

const columns = `entry & ${positionMask} AS position, rank, route, received_at AS receivedAt`;

/**
 * Finds a tenant's notification by its id: in the index, or in the tail of the log that is not indexed yet. The tail has
 * no upper end: inside a write transaction the head that `logs` tells is behind what the same batch has stored.
 */
export class EntryFinder {
  readonly #indexed;
  readonly #tail;

  constructor(db: Db) {
    this.#indexed = db.prepare<[number, Buffer], Found>(
      `SELECT ${columns} FROM index_id i JOIN notifications ON entry = ${entryOf('i.tenant', 'i.position')}
       WHERE i.tenant = ? AND i.id = ?`,
    );
    this.#tail = db.prepare<[number, Buffer], Found>(
      `SELECT ${columns} FROM logs l JOIN notifications
         ON entry BETWEEN ${entryOf('l.tenant', '(l.indexed + 1)')} AND ${entryOf('l.tenant', String(positionMask))}
       WHERE l.tenant = ? AND id = ?`,
    );
  }

  find(tenant: number, id: string): Found | undefined {
    const blob = uuidToBlob(id);
    return blob && (this.#indexed.get(tenant, blob) ?? this.#tail.get(tenant, blob));
  }
}
