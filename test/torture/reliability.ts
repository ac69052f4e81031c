/** docs/reliability.md: a section for each part of the torture, replaced when that part runs again. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { root } from '../support/server-process.ts';
import type { Figure } from './report.ts';

export interface Section {
  readonly name: string;
  readonly about: string;
  /** Whether every test of the part passed. */
  readonly ok: boolean;
  readonly figures: readonly Figure[];
  /** When and on what it ran, as one line. */
  readonly machine: string;
}

const path = join(root, 'docs', 'reliability.md');

const heading = `# Reliability

This page lists what Belfry promises, how each promise was tested, how often, and the result. It is written by \`npm run torture\`.
A short form of each part, except those that only measure, runs within \`npm test\`. A loss, a repeat or a leak is a failure on any machine; the times
depend on the machine named, which may have had other work.

Words in the results: *phantom* is stored although nobody sent it, *unknown* was sent and got no answer (it may be stored or not), *caught* is a defect put in on
purpose that the checks found.`;

/** Puts a part's section in place of its last one, in the order of `names`. */
export function keepSection(names: readonly string[], section: Section): void {
  const before = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const [, ...sections] = before.split(/^(?=## )/m);
  const nameOf = (text: string) => /^## (\S+):/.exec(text)?.[1] ?? '';
  const place = (text: string) => names.indexOf(nameOf(text));
  const all = [...sections.filter((text) => nameOf(text) !== section.name), render(section)]
    .sort((a, b) => place(a) - place(b))
    .map((text) => text.trim());
  writeFileSync(path, `${[heading, ...all].join('\n\n')}\n`);
}

function render({ name, about, ok, figures, machine: line }: Section): string {
  const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
  const rows = figures.map(
    ({ promise, method, count, result }) => `| ${[promise, method, count, result].map(cell).join(' | ')} |`,
  );
  return [
    `## ${name}: ${about}`,
    '',
    `${ok ? 'Passed' : '**Failed**'} · ${line}`,
    ...(rows.length === 0 ? [] : ['', '| promise | method | count | result |', '|---|---|---|---|', ...rows]),
  ].join('\n');
}

/** The date, the machine without its name, and the commit. */
export function machine(): string {
  const date = new Date().toISOString().slice(0, 16).replace('T', ' ');
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  return `${date} UTC · ${cpus().length} cores, ${memory}, ${process.platform} · Node ${process.versions.node} · commit ${commit()}`;
}

function commit(): string {
  const git = (...args: string[]) => execFileSync('git', ['-C', root, ...args], { encoding: 'utf8' }).trim();
  const changed = git('status', '--porcelain', '--', 'src', 'package-lock.json') !== '';
  return `${git('rev-parse', '--short', 'HEAD')}${changed ? ' with changes' : ''}`;
}
