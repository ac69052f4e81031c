import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { AppError } from '#core/errors.ts';
import type { Builder } from './schema.ts';
import type { SqlExecutor } from './sql.ts';

/**
 * The first node leaves a fingerprint of its key with the database.
 * @throws AppError `conflict` on a node that has another key: what one node signs or encrypts, the others must be able to read.
 */
export async function assertSharedKey(db: Builder, executor: SqlExecutor, key: string): Promise<void> {
  const fingerprint = createHash('sha256').update(`belfry key ${key}`).digest('base64url');
  const [, read] = await executor.write([
    sql`insert into meta (name, value) values ('key', ${fingerprint}) on conflict (name) do nothing`.compile(
      db,
    ),
    sql`select value from meta where name = 'key'`.compile(db),
  ]);
  if (read?.rows[0]?.value === fingerprint) return;
  throw new AppError(
    'conflict',
    "this node has another key than the nodes before it: copy their key file here and name it in BELFRY_KEY_FILE. If that key is lost, run DELETE FROM meta WHERE name = 'key': it signs everybody out and takes second factors",
  );
}
