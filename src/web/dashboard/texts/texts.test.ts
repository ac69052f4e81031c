import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as de from './de.ts';
import * as en from './en.ts';
import type { Translated } from './translated.ts';

const sources = globSync('**/*.{ts,tsx}', { cwd: join(import.meta.dirname, '..') })
  .filter((file) => !file.startsWith('texts/') && !file.endsWith('.test.ts'))
  .map((file) => readFileSync(join(import.meta.dirname, '..', file), 'utf8'))
  .join('\n');

/** Keys that are put together in a template: the fixed part of it must be at the start or at the end. */
const templates = [...sources.matchAll(/`([\w.-]*)\$\{[^`]*\}([\w.-]*)`/g)].map(
  ([, start = '', end = '']) => ({
    start,
    end,
  }),
);

const isUsed = (key: string) =>
  sources.includes(`'${key}'`) ||
  templates.some(({ start, end }) => start + end !== '' && key.startsWith(start) && key.endsWith(end));

test('every text is used', () => {
  const unused = Object.entries(en).flatMap(([page, texts]) =>
    Object.keys(texts)
      .filter((key) => !isUsed(key.replace(/_(one|other)$/, '')))
      .map((key) => `${page}.${key}`),
  );
  expect(unused).toEqual([]);
});

/** Each has another text than the shared one of its name, which would be shown if it were missing. */
const shadowing = [
  'channels.field.url',
  'expectations.state',
  'integrations.levels',
  'levels.untilCleared',
  'overview.panels',
  'panels.version',
  'ruleSentence.field.host',
  'ruleSentence.field.ip',
  'ruleSentence.field.key',
  'ruleSentence.field.level',
  'ruleSentence.field.message',
  'ruleSentence.field.sourceIp',
  'ruleSentence.field.title',
  'ruleSentence.field.token',
  'ruleSentence.from',
  'ruleSentence.more',
  'ruleSentence.until',
  'rules.from',
  'rules.keys',
  'rules.until',
  'tenant.name',
  'welcome.done',
];

test('a page has a name that the shared texts have, too, only for another text', () => {
  const { shell, ...pages } = en;
  const shared: Readonly<Record<string, string>> = shell;
  const both = Object.entries(pages).flatMap(([page, texts]) =>
    Object.entries(texts as Readonly<Record<string, string>>)
      .filter(([key]) => key in shared)
      .map(([key, text]) => ({ name: `${page}.${key}`, isSame: text === shared[key] })),
  );
  // Sentences of rules are written without the shared texts, too.
  const same = both.filter(({ name, isSame }) => isSame && !name.startsWith('ruleSentence.'));
  expect(same).toEqual([]);
  expect(both.map(({ name }) => name).sort()).toEqual(shadowing);
});

/** A page without its German is an error of types. */
const german: Translated = de;

const slots = (text: string) => [...new Set(text.match(/\{\{\w+\}\}/g))].sort();

test('a text has the same slots in each language, except a count that a sentence can do without', () => {
  const different = Object.entries(en).flatMap(([page, texts]) =>
    Object.entries(texts)
      .filter(([key, text]) => {
        const translated = (german as Record<string, Record<string, string>>)[page]?.[key] ?? '';
        return !key.endsWith('_one') && slots(text).join() !== slots(translated).join();
      })
      .map(([key]) => `${page}.${key}`),
  );
  expect(different).toEqual([]);
});
