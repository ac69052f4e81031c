/** `belfry migrate`: copies a whole database to another one. */
import { existsSync } from 'node:fs';
import { createKeyFile, openKeyFile } from '#accounts/key-file.ts';
import { conflict } from '#core/errors.ts';
import { type DatabaseSetting, databaseUrl } from '#settings/values.ts';
import { assertComplete, assertFirstKey, assertSharedKey, isKeyOf } from '#storage/database/meta.ts';
import { openSqliteTransfer } from '#storage/sqlite/transfer.ts';
import {
  type TransferDatabase,
  type TransferProgress,
  type TransferResult,
  transfer,
} from '#storage/transfer.ts';
import { keyFileOf } from './services.ts';

export interface MigrateOptions {
  readonly from: string;
  readonly to: string;
  /** The source's key file; undefined: where its server would look. */
  readonly keyFile: string | undefined;
  readonly onProgress: (progress: TransferProgress) => void;
}

export interface MigrateResult extends TransferResult {
  /** The key that servers on the target need; undefined when there was none at the source. */
  readonly keyFile: string | undefined;
  /** Of the target. */
  readonly kind: DatabaseSetting['kind'];
}

/**
 * Copies everything and compares it; goes on where an interrupted copy was.
 * @throws AppError `conflict` when a server runs on either, the source is an unfinished copy itself, or the target is neither empty nor an unfinished copy of the source as it is.
 */
export async function migrateDatabase(options: MigrateOptions): Promise<MigrateResult> {
  const [source, target] = [databaseUrl(options.from), databaseUrl(options.to)];
  const from = await open(source, 'source');
  try {
    await assertComplete(from.db);
    const keyFile = keyFileOf({ database: source, keyFile: options.keyFile });
    const key = existsSync(keyFile) ? openKeyFile(keyFile) : undefined;
    if (key === undefined) await assertFirstKey(from.db, keyFile);
    // With another key than the servers', nobody could sign in afterwards.
    else if (!(await isKeyOf(from.db, key)))
      throw conflict(
        `${keyFile} is not the key of the source: name the key file of its server in BELFRY_KEY_FILE`,
      );
    const needed = target.kind === 'sqlite' ? keyFileOf({ database: target, keyFile: undefined }) : keyFile;
    if (key !== undefined && existsSync(needed) && openKeyFile(needed) !== key)
      throw conflict(`${needed} holds another key than the source's ${keyFile}: move it away`);
    const to = await open(target, 'target');
    try {
      const result = await transfer(from, to, {
        now: Date.now(),
        onProgress: options.onProgress,
        async complete() {
          if (key === undefined) return;
          await assertSharedKey(to.db, key);
          if (!existsSync(needed)) createKeyFile(needed, key);
        },
      });
      return { ...result, keyFile: key === undefined ? undefined : needed, kind: target.kind };
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}

/** Nobody waits for an answer here, and words go into their index in large pieces. */
const patienceMs = 600_000;

async function open(database: DatabaseSetting, side: 'source' | 'target'): Promise<TransferDatabase> {
  if (database.kind === 'sqlite') return openSqliteTransfer(database.path, side);
  const [{ openPostgres }, { openPostgresTransfer }] = await Promise.all([
    import('#storage/postgres/open.ts'),
    import('#storage/postgres/transfer.ts'),
  ]);
  const storage = await openPostgres({
    url: database.url,
    makes: side === 'target',
    queueCapacity: 1,
    timeouts: { statementMs: patienceMs, answerMs: patienceMs },
    onProblem: () => undefined,
  });
  try {
    return await openPostgresTransfer(storage, database.url);
  } catch (error) {
    await storage.close();
    throw error;
  }
}
