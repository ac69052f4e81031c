/** Checks that two databases have the same content, by reading both at the same time. */
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import { AppError } from '#core/errors.ts';
import type { TenantId } from '#core/ports.ts';
import {
  pagesAhead,
  pagesOf,
  type Row,
  readPage,
  type Table,
  type TransferDatabase,
} from './transfer-database.ts';

/** Returns the number of rows. @throws AppError `conflict` naming table and tenant when the rows differ. */
export async function compareTable(
  from: TransferDatabase,
  to: TransferDatabase,
  table: Table,
): Promise<number> {
  const [pages, copies] = [pagesOf(from, table), pagesOf(to, table)];
  let count = 0;
  for (;;) {
    const { value: rows = [] } = await pages.next();
    const { value: copied = [] } = await copies.next();
    assertSame<Row>(rows, copied, ({ tenant }) =>
      table === 'tenants' || tenant === undefined
        ? `table ${table}`
        : `table ${table} of tenant ${String(tenant)}`,
    );
    if (rows.length === 0) return count;
    count += rows.length;
  }
}

/** `where` describes the place of the first difference, from the row or its copy. */
function assertSame<T>(rows: readonly T[], copied: readonly T[], where: (row: T) => string): void {
  for (let i = 0; i < Math.max(rows.length, copied.length); i++)
    if (!isDeepStrictEqual(rows[i], copied[i])) throw differs(where((rows[i] ?? copied[i]) as T));
}

const differs = (what: string) =>
  new AppError(
    'conflict',
    `the copy differs in ${what}. Make sure that no server runs on either database, and start again with a new target`,
  );

/** Compares the notifications that panels should show at `now`. @throws AppError as {@link compareTable}. */
export async function compareLive(from: TransferDatabase, to: TransferDatabase, now: number): Promise<void> {
  const read = ({ db }: TransferDatabase) =>
    db.read(
      sql<Row>`select tenant, rank, position from live where expires_at is null or expires_at > ${now}
        order by tenant, rank, position`,
    );
  assertSame(await read(from), await read(to), ({ tenant }) => `what is live of tenant ${String(tenant)}`);
}

/** @throws AppError as {@link compareTable}, naming the first position that differs. */
export async function compareLog(
  from: TransferDatabase,
  to: TransferDatabase,
  tenant: TenantId,
  onCompared: (entries: number) => void,
): Promise<void> {
  const bounds = await from.log.bounds(tenant);
  const of = `of tenant ${tenant}`;
  assertSame([bounds], [await to.log.bounds(tenant)], () => `where the log ${of} begins and ends`);
  const readBoth = async (after: number) => {
    const copied = readPage(to, tenant, after);
    // Awaited below. Until then, a rejection must not count as unhandled.
    copied.catch(() => undefined);
    await setImmediate();
    return { ...(await readPage(from, tenant, after)), copy: await copied };
  };
  for await (const { entries, receipts, copy } of pagesAhead(bounds, bounds.first - 1, readBoth)) {
    assertSame(entries, copy.entries, ({ position }) => `the log ${of} at position ${position}`);
    assertSame(receipts, copy.receipts, ({ id }) => `the receipts ${of} for ${id}`);
    onCompared(entries.length);
  }
}
