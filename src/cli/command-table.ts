/** The commands with their options, as shell completion and the manual page need them. */
import type { Command } from 'commander';

export interface CommandEntry {
  /** Without the program's own name, as in `token create`; empty for the program. */
  readonly path: string;
  readonly description: string;
  readonly subcommands: readonly { readonly name: string; readonly summary: string }[];
  readonly options: readonly OptionEntry[];
  readonly arguments: readonly {
    /** As in usage: <file>, [words...]. */
    readonly term: string;
    readonly description: string;
    readonly choices: readonly string[];
  }[];
}

export interface OptionEntry {
  /** As in -t, --tenant <name>. */
  readonly term: string;
  readonly names: readonly string[];
  readonly description: string;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
}

/** All visible commands, each before its subcommands. */
export function commandTable(program: Command): CommandEntry[] {
  const entries = (command: Command, path: readonly string[]): CommandEntry[] => {
    const help = command.createHelp();
    const visible = help.visibleCommands(command).filter((sub) => sub.name() !== 'help');
    const own: CommandEntry = {
      path: path.join(' '),
      description: help.commandDescription(command),
      subcommands: visible.map((sub) => ({ name: sub.name(), summary: help.subcommandDescription(sub) })),
      options: help.visibleOptions(command).map((option) => ({
        term: help.optionTerm(option),
        names: [option.long, option.short].filter((name) => name !== undefined && name !== null),
        description: help.optionDescription(option),
        takesValue: option.required || option.optional,
        choices: option.argChoices ?? [],
      })),
      arguments: command.registeredArguments.map((argument) => ({
        term: termOf(argument),
        description: help.argumentDescription(argument),
        choices: argument.argChoices ?? [],
      })),
    };
    return [own, ...visible.flatMap((sub) => entries(sub, [...path, sub.name()]))];
  };
  return entries(program, []);
}

function termOf(argument: Command['registeredArguments'][number]): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}
