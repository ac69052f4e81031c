/** Rewrites a partition of which most rows are dead: copies the others to tables of the next generation, which then take its place. */
import { columnList } from '../../log/history-rows.ts';
import { addTerms, readUnindexed } from './log-index.ts';
import { createLogTables, type Statements, tablesOf } from './partitions.ts';
import { type PartitionName, RowReader, storedColumns } from './rows.ts';

/** No partition is rewritten while fewer rows than this share of all, or than one partition holds, are dead. */
const mostDeadShare = 0.2;

/** The `last_row` of an unfinished copy, which a later step continues. */
const unfinished = 0;

/** The most states or receipts that one step deletes: some milliseconds. */
const mostChanges = 1_000;

const dictionaryColumns = columnList.flatMap(([, { column, kind }]) => (kind === 'shared' ? column : []));

/** How much one step does: rows to copy or delete, and pages of an index to merge or delete. */
export interface StepSize {
  readonly rows: number;
  readonly pages: number;
}

/** The tables of one generation of a partition: one out of use, which is to be dropped, or the next one, which is being filled. */
export interface Retired {
  readonly id: number;
  readonly generation: number;
  readonly firstRow: number;
  readonly lastRow: number;
  /** The partition's generation in use; null: the whole partition is out of use. */
  readonly used: number | null;
}

/** When too many rows are dead, begins to rewrite the partition with the greatest share of them, because the fewest rows are copied for it. */
export function startCopy(sql: Statements, tolerated: number): boolean {
  const worst = sql
    .of<[{ tolerated: number }], { id: number; generation: number }>(
      `WITH counts AS MATERIALIZED (
         SELECT p.id, p.generation, sum(coalesce(last_position, l.head) + 1 - first_position) AS rows,
           sum(max(0, min(l.first, coalesce(last_position, l.head) + 1) - first_position)) AS dead
         FROM partitions p JOIN partition_tenants t ON t.partition = p.id JOIN logs l ON l.tenant = t.tenant
         WHERE p.last_row IS NOT NULL GROUP BY p.id)
       SELECT id, generation FROM counts
       WHERE (SELECT sum(dead) FROM counts) > iif(@tolerated = 0, 0, max(@tolerated, (SELECT sum(rows) FROM counts) * ${mostDeadShare}))
       ORDER BY dead * 1.0 / rows DESC LIMIT 1`,
    )
    .get({ tolerated });
  if (!worst) return false;
  const { id, generation } = worst;
  createLogTables(sql.db, { id, generation: generation + 1, positionStep: 1 });
  sql
    .of(
      `INSERT INTO retired_partitions (id, generation, first_row, last_row, whole)
       SELECT id, generation + 1, first_row, ${unfinished}, 0 FROM partitions WHERE id = ?`,
    )
    .run(id);
  return true;
}

/** Continues at `firstRow`: goes through some rows, and copies those to keep to the next generation. */
export function copySome(
  sql: Statements,
  { id, generation, firstRow }: Retired,
  { rows: size, pages }: StepSize,
): void {
  const used = generation - 1;
  const { log: from, dictionary, state, receipts } = tablesOf({ id, generation: used });
  const to = tablesOf({ id, generation });
  const done = firstRow - 1;
  const last = sql
    .of<[number], { last: number }>('SELECT last_row AS last FROM partitions WHERE id = ?')
    .get(id)?.last;
  if (last === undefined || done >= last) return switchTo(sql, { id, generation }, used);
  const end = done + size;
  // The state and the receipts of rows that are not copied.
  for (const table of [state, receipts]) {
    const { changes } = sql
      .of(
        `DELETE FROM ${table} WHERE row > ? AND row <= ? AND EXISTS (
           SELECT 1 FROM ${from} n JOIN logs l USING (tenant) WHERE n.row = ${table}.row AND n.position < l.first) LIMIT ?`,
      )
      .run(done, end, mostChanges);
    if (changes === mostChanges) return;
  }
  sql
    .of(
      `INSERT INTO ${to.log} (${storedColumns.join(', ')})
       SELECT ${storedColumns.map((column) => `n.${column}`).join(', ')} FROM ${from} n JOIN logs l ON l.tenant = n.tenant
       WHERE n.row > ? AND n.row <= ? AND n.position >= l.first ORDER BY n.row`,
    )
    .run(done, end);
  sql
    .of('UPDATE retired_partitions SET first_row = ? WHERE id = ? AND generation = ?')
    .run(end + 1, id, generation);
  const texts = dictionaryColumns.map(
    (column) => `SELECT ${column} FROM ${to.log} WHERE row > ?1 AND typeof(${column}) = 'integer'`,
  );
  sql
    .of<[{ 1: number }], never>(
      `INSERT OR IGNORE INTO ${to.dictionary} SELECT id, text FROM ${dictionary} WHERE id IN (${texts.join(' UNION ')})`,
    )
    .run({ 1: done });
  const rows = readUnindexed(sql, { id, generation, indexed: done }, new RowReader(sql));
  addTerms(sql, { id, generation }, rows);
  sql.of(`INSERT INTO ${to.terms} (${to.terms}, rank) VALUES ('merge', ?)`).run(BigInt(pages));
}

/** Puts the finished copy in the place of the old generation, which is then dropped. */
function switchTo(sql: Statements, { id, generation }: PartitionName, used: number): void {
  const { log } = tablesOf({ id, generation });
  sql
    .of('UPDATE partitions SET generation = ?, sealed = 0, position_step = 1 WHERE id = ?')
    .run(generation, id);
  sql
    .of(
      `UPDATE retired_partitions SET (generation, last_row) = (?, p.last_row) FROM partitions p WHERE p.id = retired_partitions.id AND p.id = ?`,
    )
    .run(used, id);
  const ofTenant = `FROM ${log} n WHERE n.tenant = partition_tenants.tenant`;
  sql.of(`DELETE FROM partition_tenants WHERE partition = ? AND NOT EXISTS (SELECT 1 ${ofTenant})`).run(id);
  sql
    .of(
      `UPDATE partition_tenants SET first_position = (SELECT min(position) ${ofTenant}) WHERE partition = ?`,
    )
    .run(id);
}

export const isUnfinishedCopy = ({ lastRow }: Retired): boolean => lastRow === unfinished;
