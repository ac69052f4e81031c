/** The fenced blocks of the documentation. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './server-process.ts';

export interface FencedBlock {
  /** From the checkout's root. */
  readonly file: string;
  readonly line: number;
  readonly language: string;
  /** The word after the language, which tells a test what to do with the block. */
  readonly marker: string;
  readonly text: string;
}

/** README.md and the pages of docs/. */
export function guides(): string[] {
  const names = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
  return ['README.md', ...names.map((name) => `docs/${name}`)];
}

export function fencedBlocks(file: string): FencedBlock[] {
  const source = readFileSync(join(root, file), 'utf8');
  return Array.from(
    source.matchAll(/^ {0,3}```(\w*) ?(\w*)\n(.*?)^ {0,3}```$/gms),
    ({ index, ...found }) => ({
      file,
      line: source.slice(0, index).split('\n').length,
      language: found[1] ?? '',
      marker: found[2] ?? '',
      text: found[3] ?? '',
    }),
  );
}
