import type { Command } from 'commander';
import { databaseTrouble, outputTrouble } from './database-trouble.ts';
import type { Io } from './io.ts';

/** `belfry backup`: all of the database in one file, while a server runs or not. */
export function addBackup(program: Command, io: Io): void {
  program
    .command('backup')
    .summary('write all of the database to one file')
    .description('write all of the database to one file; a server may go on running')
    .argument('<file>', 'where to; nobody else may read it')
    .option('--force', 'overwrite a file that exists')
    .addHelpText('after', `\nExample:\n  ${io.program} backup /var/backups/belfry-$(date +%F).db`)
    .action(async (file: string, { force = false }: { force?: boolean }) => {
      const config = io.config();
      const { backUp, letOthersGoFirst } = await import('#app.ts');
      letOthersGoFirst();
      try {
        const { bytes } = backUp(config.database.path, file, { force });
        io.stdout.write(`backed up to ${file}: ${(bytes / 1_048_576).toFixed(1)} MiB, checked\n`);
      } catch (error) {
        throw databaseTrouble(outputTrouble(error, file), config.database.path);
      }
    });
}
