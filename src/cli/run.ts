import { Command, CommanderError } from 'commander';
import { addBackup, addRestore } from './administration/backup.ts';
import { addKey, addToken } from './administration/credentials.ts';
import { addMigrate } from './administration/migrate.ts';
import { addPanel } from './administration/panel.ts';
import { addTenant } from './administration/tenant.ts';
import { addUser } from './administration/user.ts';
import { addAlarmActions } from './alarms/actions.ts';
import { addAlarms } from './alarms/list.ts';
import { addCompletion } from './completion.ts';
import { addConfig } from './config.ts';
import { addApply, addDiff, addExport } from './configuration-commands.ts';
import { errorMessage } from './failure.ts';
import type { Io } from './io.ts';
import { addSend } from './sending/send.ts';
import { addRun } from './sending/watched-run.ts';
import { addServe } from './serve.ts';
import { addTail } from './tail.ts';

/** Runs one command. Returns its exit code: 0 done, 1 failed, 2 wrong usage or configuration. Never throws. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const program = createProgram(io);
  try {
    await program.parseAsync([...args], { from: 'user' });
    return 0;
  } catch (error) {
    const { lines, exitCode } = errorMessage(error);
    const hint =
      exitCode === 2 && error instanceof CommanderError
        ? `; see ${io.program} ${[...pathOf(program, args), '--help'].join(' ')}`
        : '';
    for (const line of lines) io.stderr.write(`belfry: ${line}${hint}\n`);
    return exitCode;
  }
}

export function createProgram(io: Io): Command {
  const program = new Command('belfry')
    .description(
      'Notifications that reach the screen: takes them, keeps them, routes them, shows them on panels.',
    )
    .version(io.build, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'explain a command')
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      outputError: () => undefined,
      getOutHelpWidth: () => io.stdout.columns ?? 100,
      getErrHelpWidth: () => io.stderr.columns ?? 100,
    })
    .addHelpText('after', `\nEach command explains itself: ${io.program} token create --help`);
  for (const add of [
    addServe,
    addSend,
    addRun,
    addTail,
    addAlarms,
    addAlarmActions,
    addToken,
    addKey,
    addTenant,
    addUser,
    addPanel,
    addBackup,
    addRestore,
    addMigrate,
    addExport,
    addDiff,
    addApply,
    addCompletion,
    addConfig,
  ]) {
    add(program, io);
  }
  return program;
}

/** The path of the command that the arguments name, as far as it exists. */
function pathOf(program: Command, args: readonly string[]): string[] {
  const path: string[] = [];
  let command: Command | undefined = program;
  for (const arg of args) {
    command = command?.commands.find((sub) => sub.name() === arg);
    if (!command) break;
    path.push(arg);
  }
  return path;
}
