import type { Command } from 'commander';
import type { Config } from '#server/app.ts';
import { databaseFailure, Failure } from '../failure.ts';
import type { Io } from '../io.ts';

type Migrate = typeof import('#server/app.ts').migrateDatabase;
type Progress = Parameters<Parameters<Migrate>[0]['onProgress']>[0];
type Result = Awaited<ReturnType<Migrate>>;

/** `belfry migrate`: copies a whole database to another one, as from SQLite to PostgreSQL. */
export function addMigrate(program: Command, io: Io): void {
  program
    .command('migrate')
    .summary('copy a whole database to an empty one')
    .description(
      'copy a whole database to an empty one and compare both; no server may run on either. Run it again to continue after an interruption',
    )
    .argument('<from>', 'sqlite:PATH or postgres://user:password@host/database')
    .argument('<to>', 'the same; it must be empty')
    .addHelpText(
      'after',
      `\nExample:\n  ${io.program} migrate sqlite:./data/belfry.db postgres://belfry@127.0.0.1/belfry`,
    )
    .action(async (from: string, to: string) => {
      const { migrateDatabase, readDatabaseUrl } = await import('#server/app.ts');
      const show = io.stdout.isTTY ? barOn(io) : linesOn(io);
      const { keyFile: ownKeyFile } = io.config();
      const source = databaseOf(from, readDatabaseUrl);
      const target = databaseOf(to, readDatabaseUrl);
      const result = await migrateDatabase({ from, to, keyFile: ownKeyFile, onProgress: show }).catch(
        (error: unknown) => {
          throw databaseFailure(databaseFailure(error, source), target);
        },
      );
      const { tenants, tables, log, keyFile } = result;
      const rows = tables.reduce((sum, table) => sum + table.rows, 0);
      io.stdout.write(
        `${io.stdout.isTTY ? '\n' : ''}${hashes([...tables, log])}copied and compared: ${count(tenants, 'tenant')}, ${count(log.rows, 'entry', 'entries')} of history, ${count(rows, 'other row')}; panels go on where they were\n`,
      );
      if (keyFile === undefined) return;
      io.stdout.write(
        result.kind === 'postgres'
          ? `copy the key file ${keyFile} to every node and name it in BELFRY_KEY_FILE\n`
          : `the key is ${keyFile}\n`,
      );
    });
}

function databaseOf(text: string, read: (text: string) => Config['database']): Config['database'] {
  try {
    return read(text);
  } catch (error) {
    throw new Failure(`a database ${error instanceof Error ? error.message : String(error)}`, 2);
  }
}

/** A line for each table that has rows: how many, and the hash that both databases have. */
const hashes = (tables: Result['tables']): string =>
  tables
    .filter(({ rows }) => rows > 0)
    .map(
      ({ name, rows, hash }) =>
        `${name.padEnd(16)}${rows.toLocaleString('en').padStart(13)}  ${hash.slice(0, 32)}\n`,
    )
    .join('');

const count = (n: number, one: string, many = `${one}s`) =>
  `${n.toLocaleString('en')} ${n === 1 ? one : many}`;

const barWidth = 30;

/** A progress bar that replaces itself in the terminal. */
function barOn({ stdout }: Io): (progress: Progress) => void {
  let drawnAt = 0;
  return ({ step, done, total }) => {
    const now = performance.now();
    if (done < total && now - drawnAt < 100) return;
    drawnAt = now;
    const share = total === 0 ? 1 : done / total;
    const filled = Math.round(share * barWidth);
    const bar = '#'.repeat(filled) + '.'.repeat(barWidth - filled);
    stdout.write(
      `\r${step.padEnd(9)} [${bar}] ${String(Math.floor(share * 100)).padStart(3)} % of ${count(total, 'entry', 'entries')}`,
    );
  };
}

/** Prints a line for each tenth of the progress. */
function linesOn({ stdout }: Io): (progress: Progress) => void {
  let last = '';
  return ({ step, done, total }) => {
    const tenths = total === 0 ? 10 : Math.floor((10 * done) / total);
    const line = `${step}: ${tenths * 10} % of ${count(total, 'entry', 'entries')}`;
    if (line === last) return;
    last = line;
    stdout.write(`${line}\n`);
  };
}
