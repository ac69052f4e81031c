import { Argument, type Command } from 'commander';
import type { Io } from './io.ts';

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };
type Shell = keyof typeof scripts;

/** `belfry completion`: a script for a shell, made from the commands' own options. */
export function addCompletion(program: Command, io: Io): void {
  program
    .command('completion')
    .summary('print the completion script of a shell')
    .description('print a script with which a shell completes commands, options and their values')
    .addArgument(new Argument('<shell>', 'which shell').choices(Object.keys(scripts)))
    .addHelpText(
      'after',
      `
Examples:
  belfry completion bash > /etc/bash_completion.d/belfry
  belfry completion zsh > "\${fpath[1]}/_belfry"
  belfry completion fish > ~/.config/fish/completions/belfry.fish`,
    )
    .action((shell: Shell) => {
      io.stdout.write(scripts[shell](commandTable(program)));
    });
}

/** For a shell, in single quotes. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

const wordsOf = ({ subcommands, options, arguments: operands }: CommandEntry) => [
  ...operands.flatMap(({ choices }) => choices),
  ...subcommands.map(({ name }) => name),
  ...options.flatMap(({ names }) => names),
];

const withValue = ({ options }: CommandEntry) => options.filter(({ takesValue }) => takesValue);

/** For a shell: each command, and as `<path>;<option>` each option that takes a value. */
const paths = (table: readonly CommandEntry[]) =>
  table.filter(({ path }) => path !== '').map(({ path }) => quoted(path));
const optionsWithValue = (table: readonly CommandEntry[]) =>
  table.flatMap((entry) =>
    withValue(entry).flatMap(({ names }) => names.map((name) => quoted(`${entry.path};${name}`))),
  );

/** The lines of a `case` of bash and zsh: from `<path>;<option>` to what follows. */
function optionCases(table: readonly CommandEntry[], line: (option: OptionEntry) => string): string {
  return table
    .flatMap((entry) =>
      withValue(entry).map((option) => {
        const patterns = option.names.map((name) => quoted(`${entry.path};${name}`));
        return `    ${patterns.join('|')}) ${line(option)} ;;\n`;
      }),
    )
    .join('');
}

interface WordList {
  /** The array of words, and the index of the first one behind the program. */
  readonly words: string;
  readonly first: number;
  readonly cursor: string;
  /** Completes the command line of another program, whose name is the word behind `i`. */
  readonly otherCommand: string;
}

/**
 * Walks the words before the cursor: `cmd` becomes the command they name. An option's value is no command. Behind `run --` is the
 * command line of another program.
 */
function walk(table: readonly CommandEntry[], { words, first, cursor, otherCommand }: WordList): string {
  return `  local cmd='' word i next
  for ((i = ${first}; i < ${cursor}; i++)); do
    word=\${${words}[i]}
    if [[ $word == -- ]]; then
      [[ $cmd == run ]] && ${otherCommand}
      return
    fi
    case "$cmd;$word" in
    ${optionsWithValue(table).join('|')}) ((i++)); continue ;;
    esac
    next="\${cmd:+$cmd }$word"
    case "$next" in
    ${paths(table).join('|')}) cmd=$next ;;
    esac
  done
`;
}

function bashScript(table: readonly CommandEntry[]): string {
  const values = optionCases(table, ({ choices }) =>
    choices.length > 0
      ? `COMPREPLY=($(compgen -W ${quoted(choices.join(' '))} -- "$cur")); return`
      : 'return',
  );
  const words = table.map(
    (entry) => `    ${quoted(entry.path)}) words=${quoted(wordsOf(entry).join(' '))} ;;\n`,
  );
  return `# bash completion of belfry; made by: belfry completion bash
_belfry() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} words=''
  COMPREPLY=()
${walk(table, { words: 'COMP_WORDS', first: 1, cursor: 'COMP_CWORD', otherCommand: 'declare -F _command_offset >/dev/null && _command_offset $((i + 1))' })}  case "$cmd;$prev" in
${values}  esac
  case "$cmd" in
${words.join('')}  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _belfry belfry
`;
}

function zshScript(table: readonly CommandEntry[]): string {
  const described = (name: string, text: string) => quoted(`${name}:${text}`);
  const values = optionCases(table, ({ choices }) =>
    choices.length > 0 ? `compadd -- ${choices.map(quoted).join(' ')}; return` : '_files; return',
  );
  const words = table.map((entry) => {
    const commands = [
      ...entry.subcommands.map(({ name, summary }) => described(name, summary)),
      ...entry.arguments.flatMap(({ choices }) => choices.map(quoted)),
    ];
    const options = entry.options.flatMap(({ names, description }) =>
      names.map((name) => described(name, description)),
    );
    return `    ${quoted(entry.path)}) commands=(${commands.join(' ')}); options=(${options.join(' ')}) ;;\n`;
  });
  return `#compdef belfry
# zsh completion of belfry; made by: belfry completion zsh
_belfry() {
  local cur=\${words[CURRENT]} prev=\${words[CURRENT-1]}
  local -a commands options
${walk(table, { words: 'words', first: 2, cursor: 'CURRENT', otherCommand: '{ shift $i words; ((CURRENT -= i)); _normal; }' })}  case "$cmd;$prev" in
${values}  esac
  case "$cmd" in
${words.join('')}  esac
  if [[ $cur == -* ]]; then
    _describe option options
  elif ((\${#commands})); then
    _describe command commands
  else
    _files
  fi
}
# zsh runs this file for the first completion, or it is read with source.
if [[ \${zsh_eval_context[-1]} == loadautofunc ]]; then
  _belfry "$@"
else
  compdef _belfry belfry
fi
`;
}

function fishScript(table: readonly CommandEntry[]): string {
  const lines = table.flatMap((entry) => {
    const here = `-n ${quoted(`test (__belfry_command) = ${JSON.stringify(entry.path)}`)}`;
    const commands = entry.subcommands.map(
      ({ name, summary }) => `complete -c belfry -f ${here} -a ${name} -d ${quoted(summary)}`,
    );
    const options = entry.options.map(({ names, description, takesValue, choices }) => {
      const flags = names.map((name) =>
        name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`,
      );
      const value = takesValue ? (choices.length > 0 ? ` -x -a ${quoted(choices.join(' '))}` : ' -r') : '';
      return `complete -c belfry ${here} ${flags.join(' ')}${value} -d ${quoted(description)}`;
    });
    const operands = entry.arguments.flatMap(({ choices }) => choices);
    const values =
      operands.length > 0 ? [`complete -c belfry -f ${here} -a ${quoted(operands.join(' '))}`] : [];
    return [...commands, ...values, ...options];
  });
  return `# fish completion of belfry; made by: belfry completion fish
function __belfry_command
    set -l found ''
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
            continue
        end
        if contains -- "$found;$word" ${optionsWithValue(table).join(' ')}
            set skip 1
            continue
        end
        set -l next (string trim -- "$found $word")
        if contains -- $next ${paths(table).join(' ')}
            set found $next
        end
    end
    echo $found
end
${lines.join('\n')}
`;
}

/** A command with its options, as shell completion and the manual page need it. */
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

interface OptionEntry {
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
