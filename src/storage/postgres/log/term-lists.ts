/** Lists of the rows that have a term: what a search reads of them. */
import type pg from 'pg';
import type { TenantId } from '#core/log/route.ts';
import { flagTerm } from '#core/search/index-terms.ts';
import type { Storage } from '../../database/storage.ts';
import { type IndexedRows, RowSet, type SingleTerm, TermIndex } from '../../search/row-set.ts';
import type { Connections } from '../connections.ts';
import { isMissingTable, isTimeout } from '../errors.ts';

/** What PostgreSQL keeps beside its term. Longer lists are only read where they are needed. */
export const shortLists = { lists: 100, bytes: 1_900 };
/** Of terms with more, each row is tested. */
export const longLists = { lists: 50_000, bytes: 1_000_000 };

/** The rows of terms, as a list of the table or as numbers; null: not read. A term that is not there has none. */
export type TermRows = ReadonlyMap<string, Buffer | readonly number[] | null>;

const lastOf = ({ term, prefix }: SingleTerm) => (prefix ? `${term}\u{10ffff}` : term);

/** Reads the lists of terms in the partitions that begin at `lows`; where a term has more than `most`, only that there are some. */
export async function readLists(
  connections: Connections,
  tenant: TenantId,
  lows: readonly number[],
  { terms, most }: { readonly terms: readonly SingleTerm[]; readonly most: typeof shortLists },
): Promise<ReadonlyMap<number, TermRows>> {
  const firsts = new Map(terms.map((term) => [lastOf(term), term.term]));
  const lasts = [...firsts.keys()];
  const found = await connections.query<{ low: number; nr: number; rows: Buffer | null }>(
    tenant,
    'SELECT * FROM read_lists($1, $2, $3, $4, $5, $6)',
    [tenant, lows, [...firsts.values()], lasts, most.lists, most.bytes],
  );
  const lists = new Map(lows.map((low) => [low, new Map<string, Buffer | null>()]));
  for (const { low, nr, rows } of found) lists.get(low)?.set(lasts[nr - 1] as string, rows);
  return lists;
}

/** With more notifications in a state than this, rows are tested for it: to list them all would take longer. */
const mostOfState = 50_000;

const standing = 'tenant = $1 AND (expires_at IS NULL OR expires_at > $2)';

/** The rows of states that notifications enter later, if terms ask for them. */
export async function readStates(
  connections: Connections,
  tenant: TenantId,
  terms: readonly SingleTerm[],
  now: number,
): Promise<TermRows> {
  const states = (['live', 'shelved', 'suppressed', 'acknowledged'] as const).map((state) =>
    flagTerm(tenant, state),
  );
  if (!terms.some(({ term }) => states.includes(term))) return new Map();
  const found = await connections.query<{ term: string; rows: readonly number[] }>(
    tenant,
    `SELECT $3 AS term, coalesce(json_agg(row), '[]') AS rows FROM (
       SELECT row FROM live WHERE ${standing} AND shelved IS NULL LIMIT ${mostOfState + 1}) l
     UNION ALL SELECT $4, coalesce(json_agg(row), '[]') FROM (
       SELECT row FROM live WHERE ${standing} AND shelved IS NOT NULL AND suppressed IS NULL LIMIT ${mostOfState + 1}) l
     UNION ALL SELECT $5, coalesce(json_agg(row), '[]') FROM (
       SELECT row FROM live WHERE ${standing} AND suppressed IS NOT NULL LIMIT ${mostOfState + 1}) l
     UNION ALL SELECT $6, coalesce(json_agg(row), '[]') FROM (
       SELECT row FROM acknowledgements WHERE tenant = $1 LIMIT ${mostOfState + 1}) a`,
    [tenant, now, ...states],
  );
  return new Map(found.map(({ term, rows }) => [term, rows.length > mostOfState ? null : rows]));
}

/** What was read of the index of one partition: rows of states, and lists; without lists, no term of them is read. */
export class TermLists extends TermIndex {
  protected override readonly stopsAtFew = false;
  readonly #rows: IndexedRows;
  readonly #states: TermRows;
  readonly #lists: TermRows | undefined;

  constructor(rows: IndexedRows, states: TermRows, lists?: TermRows) {
    super(rows);
    this.#rows = rows;
    this.#states = states;
    this.#lists = lists;
  }

  protected override rowsOf(term: SingleTerm): RowSet | undefined {
    const found = new RowSet(this.#rows);
    return this.addRows(term, found) ? found : undefined;
  }

  protected override addRows(term: SingleTerm, found: RowSet): boolean {
    const last = lastOf(term);
    const list = this.#states.has(last) ? this.#states.get(last) : this.#lists ? this.#lists.get(last) : null;
    if (list === null) return false;
    const { firstRow, indexed } = this.#rows;
    if (!(list instanceof Buffer)) {
      for (const row of list ?? []) if (row >= firstRow && row <= indexed) found.add(row);
      return true;
    }
    for (let at = 0; at < list.length; ) {
      const block = firstRow + list.readInt32BE(at);
      const count = list.readInt16BE(at + 4);
      const rows = list.subarray(at + 6, at + 6 + (count < 0 ? -count : 2 * count));
      // What was listed since this search began, it finds with what is in no list.
      if (block <= indexed && count < 0) found.addBits(rows, block);
      else if (block <= indexed) found.addOffsets(rows, block);
      at += 6 + rows.length;
    }
    return true;
  }
}

/** Makes the lists of terms that searches read, in the background, and watches how far they are behind the log. */

/** Rows whose lists are made together, usually; at most 32,767. A search tests those that are in no list yet. */
export const blockRows = 8_192;
/** A statement that takes longer is given up, and fewer rows are tried: a server that stops has to wait for it. */
const mostMs = 1_500;
/** More rows are tried again after a step that took little time, and after so many steps: each may have to wait for the network. */
const stepsToMore = 20;
/** The operator is warned when so many blocks are missing, and no fewer were `watchMs` earlier. */
const mostBlocks = 10;
const watchMs = 300_000;

export function createIndexing(
  connections: Connections,
  blockRows: number,
  warn: (message: string) => void,
): Required<Pick<Storage, 'indexNext' | 'indexBacklog'>> {
  let rowsAtOnce = blockRows;
  let steps = 0;
  let backlog = 0;
  let watched = { backlog, at: performance.now() };

  const watch = async () => {
    const [found] = await connections.query<{ rows: number }>('all', 'SELECT list_backlog() AS rows');
    backlog = found?.rows ?? backlog;
    if (performance.now() < watched.at + watchMs) return;
    const isStuck = watched.backlog >= mostBlocks * blockRows && backlog >= watched.backlog;
    watched = { backlog, at: performance.now() };
    if (!isStuck) return;
    const [held] = await connections.query<{ by: string | null }>('all', 'SELECT list_obstacle() AS by');
    const cause = held?.by ? `; a transaction may hold them up (${held.by})` : '';
    warn(
      `searches get slower: ${backlog} entries of the log are not indexed, and no fewer were five minutes ago${cause}`,
    );
  };

  return {
    indexBacklog: () => backlog,

    async indexNext() {
      await watch();
      // A bitmap would read all lists of a partition for each step.
      const text = `SET LOCAL statement_timeout = ${mostMs}; SET LOCAL enable_bitmapscan = off; SELECT list_terms(${rowsAtOnce}) AS more`;
      let startedAt = 0;
      try {
        const results: unknown = await connections.run('all', (client) => {
          startedAt = performance.now();
          return client.query(text);
        });
        const [, , listed] = results as pg.QueryResult<{ more: boolean | null }>[];
        const { more = null } = listed?.rows[0] ?? {};
        if (more && (performance.now() < startedAt + mostMs / 4 || ++steps % stepsToMore === 0))
          rowsAtOnce = Math.min(blockRows, 2 * rowsAtOnce);
        return more !== false;
      } catch (error) {
        // The partition was dropped meanwhile.
        if (isMissingTable(error)) return false;
        if (!isTimeout(error) || rowsAtOnce === 1) throw error;
        rowsAtOnce >>= 1;
        steps = 0;
        return true;
      }
    },
  };
}
