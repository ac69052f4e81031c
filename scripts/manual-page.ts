/** The manual page of the package, from the command line's own tables. */
import { EventEmitter } from 'node:events';
import { type CommandEntry, commandTable } from '#cli/completion.ts';
import type { Io } from '#cli/io.ts';
import { createProgram } from '#cli/run.ts';
import { describeConfig, readConfig } from '#settings/config.ts';

/** belfry.1, as man and mandoc take it. */
export function manualPage(version: string): string {
  const table = commandTable(createProgram(silentIo(version)));
  const settings = Array.from(
    describeConfig(readConfig({}), { explain: true }).matchAll(/^# (.*)\n(\w+)=(.*)$/gm),
    ([, about = '', name = '', value = '']) =>
      item(name, `${about}${value === '' ? '' : ` (default: ${value})`}`),
  );
  const sections = [
    `.TH BELFRY 1 "" "Belfry ${roff(version)}" "User Commands"`,
    section('NAME', 'belfry \\- notifications that reach the screen'),
    section('SYNOPSIS', '.B belfry\n.I command\n.RI [ options ]'),
    section('DESCRIPTION', lineOf(table[0]?.description ?? '')),
    section('COMMANDS', table.slice(1).filter(isCallable).map(commandText).join('\n')),
    section('ENVIRONMENT', settings.join('\n')),
    section(
      'EXIT STATUS',
      [
        item('0', 'Done.'),
        item('1', 'Failed; for diff: there is a difference.'),
        item('2', 'Wrong usage or configuration; for diff: failed.'),
      ].join('\n'),
    ),
    section('FILES', item('./data/belfry.db', 'The database, unless BELFRY_DATABASE_URL names another.')),
  ];
  return `${sections.join('\n')}\n`;
}

/** A command that only gathers others does nothing itself. */
const isCallable = ({ subcommands }: CommandEntry) => subcommands.length === 0;

function commandText({ path, description, options, arguments: operands }: CommandEntry): string {
  const usage = [...operands.map(({ term }) => term), ...(options.length > 0 ? ['[options]'] : [])].join(' ');
  const details = [...operands, ...options].map(({ term, description: text }) => item(term, text));
  return [
    `.SS belfry ${roff(path)} ${roff(usage)}`.trimEnd(),
    lineOf(sentence(description)),
    ...details,
  ].join('\n');
}

function section(title: string, text: string): string {
  return `.SH ${title}\n${text}`;
}

function item(term: string, text: string): string {
  return `.TP\n\\fB${roff(term)}\\fR\n${lineOf(sentence(text))}`;
}

const sentence = (text: string) =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;

/** A line that begins with a dot or a quote would be a request. */
const lineOf = (text: string) => roff(text).replace(/^([.'])/, '\\&$1');

function roff(text: string): string {
  return text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll('…', '...').replaceAll(/\s+/g, ' ');
}

/** The commands are described, not run. */
function silentIo(version: string): Io {
  const stream = Object.assign(new EventEmitter(), { write: () => true });
  const none = () => () => undefined;
  return {
    stdin: stream,
    stdout: stream,
    stderr: stream,
    env: {},
    program: 'belfry',
    version,
    build: version,
    config: () => readConfig({}),
    onSignal: none,
    onEnd: none,
    kill: () => undefined,
  } as unknown as Io;
}
