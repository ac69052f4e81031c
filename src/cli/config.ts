import type { Command } from 'commander';
import type { Io } from './io.ts';

/** `belfry config`: the settings in force. */
export function addConfig(program: Command, io: Io): void {
  program
    .command('config')
    .summary('print the settings in force')
    .description('print the settings in force, secrets masked, or everything that is wrong with them')
    .option('--explain', 'with an explanation of each')
    .addHelpText('after', `\nExample:\n  ${io.program} config --explain`)
    .action(async ({ explain = false }: { explain?: boolean }) => {
      const config = io.config();
      const { describeConfig } = await import('#server/app.ts');
      io.stdout.write(describeConfig(config, { explain }));
    });
}
