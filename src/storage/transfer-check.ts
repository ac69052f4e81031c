/** Whether two databases hold the same: counts and checksums of each table and tenant. */
import { createHash, type Hash } from 'node:crypto';
import { sql } from 'kysely';
import { AppError } from '#core/errors.ts';
import type { TenantId } from '#core/ports.ts';
import { pageEntries, pagesOf, type Row, type Table, type TransferDatabase } from './transfer-database.ts';

/** Answers the number of rows. @throws AppError `conflict` when they are not the same in both, naming table and tenant. */
export async function compareTable(
  from: TransferDatabase,
  to: TransferDatabase,
  table: Table,
): Promise<number> {
  const [before, after] = [await sumsOfTable(from, table), await sumsOfTable(to, table)];
  for (const tenant of new Set([...before.keys(), ...after.keys()])) {
    const of = table === 'tenants' || tenant === undefined ? '' : ` of tenant ${String(tenant)}`;
    assertSame(`table ${table}${of}`, before.get(tenant), after.get(tenant));
  }
  return [...before.values()].reduce((sum, { count }) => sum + count, 0);
}

interface Sum {
  count: number;
  readonly hash: Hash;
}

const newSum = (): Sum => ({ count: 0, hash: createHash('sha256') });

function add(sum: Sum, value: unknown): void {
  sum.count += 1;
  sum.hash.update(canonical(value));
}

function assertSame(what: string, before: Sum | undefined, after: Sum | undefined): void {
  const [counts, sums] = [before, after].map((sum) => [sum?.count ?? 0, sum?.hash.digest('hex')] as const);
  if (counts?.[0] === sums?.[0] && counts?.[1] === sums?.[1]) return;
  throw new AppError(
    'conflict',
    `the copy differs in ${what}: ${counts?.[0]} rows before, ${sums?.[0]} after. Make sure that no server runs on either database, and start again with a new target`,
  );
}

/** What panels should be showing at `now`. @throws AppError as {@link compareTable}. */
export async function compareLive(from: TransferDatabase, to: TransferDatabase, now: number): Promise<void> {
  const [before, after] = [newSum(), newSum()];
  for (const [{ builder, executor }, sum] of [
    [from, before],
    [to, after],
  ] as const) {
    const rows = await executor.read(
      sql<Row>`select tenant, rank, position from live where expires_at is null or expires_at > ${now}
        order by tenant, rank, position`.compile(builder),
    );
    for (const row of rows) add(sum, row);
  }
  assertSame('what is live', before, after);
}

async function sumsOfTable(side: TransferDatabase, table: Table): Promise<Map<unknown, Sum>> {
  const sums = new Map<unknown, Sum>();
  for await (const rows of pagesOf(side, table)) {
    for (const row of rows) {
      const sum = sums.get(row.tenant) ?? newSum();
      sums.set(row.tenant, sum);
      add(sum, row);
    }
  }
  return sums;
}

export async function compareLog(
  from: TransferDatabase,
  to: TransferDatabase,
  tenant: TenantId,
  onCompared: (entries: number) => void,
): Promise<void> {
  const [before, after] = [newSum(), newSum()];
  const { first, head } = await from.log.bounds(tenant);
  let position = first - 1;
  while (position < head) {
    let read = 0;
    for (const [side, sum] of [
      [from, before],
      [to, after],
    ] as const) {
      const { entries } = await side.log.readAfter(tenant, position, pageEntries);
      for (const entry of entries) add(sum, entry);
      for (const receipt of await side.receiptsOf(tenant, entries)) add(sum, receipt);
      if (side === from) read = entries.length;
    }
    if (read === 0) break;
    position += read;
    onCompared(read);
  }
  add(before, await from.log.bounds(tenant));
  add(after, await to.log.bounds(tenant));
  assertSame(`the log of tenant ${tenant}`, before, after);
}

/** Equal values have equal texts, in whichever order their fields are. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
