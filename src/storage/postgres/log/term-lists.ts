/** Lists of the rows that have a term: what a search reads of them. */
import type { TenantId } from '#core/ports.ts';
import { flagTerm } from '#core/search/index-terms.ts';
import { type IndexedRows, RowSet } from '../../log/row-set.ts';
import { type SingleTerm, TermIndex } from '../../log/term-index.ts';
import type { Connections } from '../connections.ts';

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

/** The rows of states that notifications enter later, if terms ask for them. */
export async function readStates(
  connections: Connections,
  tenant: TenantId,
  terms: readonly SingleTerm[],
  now: number,
): Promise<TermRows> {
  const [live, acknowledged] = [flagTerm(tenant, 'live'), flagTerm(tenant, 'acknowledged')];
  const asked = terms.filter(({ term }) => term === live || term === acknowledged);
  if (asked.length === 0) return new Map();
  const found = await connections.query<{ term: string; rows: readonly number[] }>(
    tenant,
    `SELECT $3 AS term, coalesce(json_agg(row), '[]') AS rows FROM (
       SELECT row FROM live WHERE tenant = $1 AND (expires_at IS NULL OR expires_at > $2) LIMIT ${mostOfState + 1}) l
     UNION ALL SELECT $4, coalesce(json_agg(row), '[]') FROM (
       SELECT row FROM acknowledgements WHERE tenant = $1 LIMIT ${mostOfState + 1}) a`,
    [tenant, now, live, acknowledged],
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
