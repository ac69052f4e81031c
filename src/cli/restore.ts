import type { Command } from 'commander';
import { withDatabase } from './administration.ts';
import type { Io } from './io.ts';

/** `belfry restore`: a backup in the place of the database. */
export function addRestore(program: Command, io: Io): void {
  program
    .command('restore')
    .summary('put a backup in the place of the database')
    .description(
      'put a backup in the place of the database, which is kept beside it; the server must be stopped',
    )
    .argument('<file>', 'what belfry backup wrote')
    .option('--purge', 'remove notifications beyond retention from the file, and from its free space')
    .addHelpText('after', `\nExample:\n  ${io.program} restore /var/backups/belfry-2026-11-20.db`)
    .action(async (file: string, { purge = false }: { purge?: boolean }) => {
      const config = io.config();
      const { restore } = await import('#app.ts');
      const { kept } = await withDatabase(config, () =>
        restore(config.database.path, file, Date.now(), { purges: purge }),
      );
      io.stdout.write(
        `restored ${file} to ${config.database.path}, with a new epoch: every panel starts afresh\n`,
      );
      if (kept !== undefined) io.stdout.write(`what was there is kept as ${kept}\n`);
    });
}
