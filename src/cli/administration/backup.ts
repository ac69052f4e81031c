import type { Command } from 'commander';
import { databaseFailure, outputFailure } from '../failure.ts';
import type { Io } from '../io.ts';
import { requireFile, sqliteFile, withDatabase } from './administration.ts';

/** `belfry backup`: writes the database to one file; the server may be running. */
export function addBackup(program: Command, io: Io): void {
  program
    .command('backup')
    .summary('write the whole database to one file')
    .description('write the whole database to one file; the server may keep running')
    .argument('<file>', 'file to write, which only you can read')
    .option('--force', 'overwrite a file that exists')
    .addHelpText('after', `\nExample:\n  ${io.program} backup /var/backups/belfry-$(date +%F).db`)
    .action(async (file: string, { force = false }: { force?: boolean }) => {
      const config = io.config();
      const path = sqliteFile(config, 'belfry backup');
      await withDatabase(config, () => requireFile(io, path));
      const { backUp, lowerPriority } = await import('#server/app.ts');
      if (io.isWholeProcess) lowerPriority();
      try {
        const { bytes } = backUp(path, file, { force });
        io.stdout.write(`backed up to ${file}: ${(bytes / 1_048_576).toFixed(1)} MiB, checked\n`);
      } catch (error) {
        throw databaseFailure(outputFailure(error, file), config.database);
      }
    });
}

/** `belfry restore`: replaces the database with a backup. */
export function addRestore(program: Command, io: Io): void {
  program
    .command('restore')
    .summary('replace the database by a backup')
    .description(
      'replace the database by a backup, and keep the old one beside it; the server must be stopped',
    )
    .argument('<file>', 'a file that belfry backup wrote')
    .option('--purge', 'remove notifications beyond retention from the file, and from its free space')
    .addHelpText('after', `\nExample:\n  ${io.program} restore /var/backups/belfry-2026-11-20.db`)
    .action(async (file: string, { purge = false }: { purge?: boolean }) => {
      const config = io.config();
      const path = sqliteFile(config, 'belfry restore');
      const { restore } = await import('#server/app.ts');
      const { kept } = await withDatabase(config, () => restore(path, file, Date.now(), { purges: purge }));
      io.stdout.write(`restored ${file} to ${path}, with a new epoch: every panel starts afresh\n`);
      if (kept !== undefined) io.stdout.write(`what was there is kept as ${kept}\n`);
    });
}
