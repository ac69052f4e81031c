/** `belfry export`, `belfry diff` and `belfry apply`: a tenant's levels, mappings, channels, panels, on-call schedules, rules and saved searches as a file. */
import type { Command } from 'commander';
import type { ApplyOptions, DiffOptions, ExportOptions } from './configuration/commands.ts';
import type { Io } from './io.ts';

const where =
  'on the server at BELFRY_URL with the automation key in BELFRY_TOKEN, or without one on the database itself';
const tenant = ['-t, --tenant <name>', 'tenant, on the database itself (default: "default")'] as const;

export function addExport(program: Command, io: Io): void {
  program
    .command('export')
    .summary('print the configuration of a tenant as YAML')
    .description(
      `print levels, mappings, channels, panels, on-call schedules, rules and saved searches as YAML, ${where}; instead of secrets, it has the names of environment variables`,
    )
    .option(...tenant)
    .option('--schema', 'print the JSON Schema of the file instead, for editors')
    .addHelpText(
      'after',
      `\nExamples:\n  ${io.program} export > belfry.yaml\n  ${io.program} export --schema > belfry.schema.json`,
    )
    .action(async (options: ExportOptions) => {
      const { exportConfiguration } = await import('./configuration/commands.ts');
      await exportConfiguration(io, options);
    });
}

export function addDiff(program: Command, io: Io): void {
  program
    .command('diff')
    .summary('show what applying a configuration would change')
    .description(
      `show what apply would change, and its effect on the last day's notifications, ${where}; exits with 1 when there is a difference`,
    )
    .argument('<file>', 'a file as export prints it; - is stdin')
    .option(...tenant)
    .option('--prune', 'count what the file does not have as a difference')
    .addHelpText('after', `\nExample:\n  ${io.program} diff belfry.yaml`)
    .action(async (file: string, options: DiffOptions) => {
      const { diffConfiguration } = await import('./configuration/commands.ts');
      await diffConfiguration(io, file, options);
    });
}

export function addApply(program: Command, io: Io): void {
  program
    .command('apply')
    .summary('change a tenant to match a configuration file')
    .description(
      `create and change levels, mappings, channels, panels, on-call schedules, rules and saved searches until they are as in the file, ${where}; shows the effect on the last day's notifications first, and takes the secrets of channels from the environment`,
    )
    .argument('<file>', 'a file as export prints it; - is stdin')
    .option(...tenant)
    .option('--prune', 'delete what the file does not have, of the sections that it has')
    .option('--dry-run', 'show what would change, and change nothing')
    .option('-y, --yes', 'delete without asking')
    .addHelpText(
      'after',
      `\nExamples:\n  ${io.program} apply belfry.yaml\n  ${io.program} apply belfry.yaml --prune --yes`,
    )
    .action(async (file: string, options: ApplyOptions) => {
      const { applyConfiguration } = await import('./configuration/commands.ts');
      await applyConfiguration(io, file, options);
    });
}
