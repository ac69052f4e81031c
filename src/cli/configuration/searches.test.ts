import { expect, test } from 'vitest';
import type { Current } from './entries.ts';
import { parseConfiguration } from './file.ts';
import { planOf } from './plan.ts';
import { requireReadable } from './searches.ts';

const current: Current = {
  ...{ levels: [], mappings: [], channels: [], panels: [], rules: [], tokens: [] },
  searches: [{ id: 's1', name: 'old', q: 'hots:x', createdAt: '2026-11-20T10:00:00.000Z', createdBy: 'a' }],
};

async function read(...searches: string[]): Promise<void> {
  const entries = searches.map((search) => `  - ${search}\n`).join('');
  const text = `version: 1\nlevels: [{ name: incident }]\nsearches:\n${entries}`;
  const file = await parseConfiguration(text, 'f.yaml');
  const none = { entries: undefined, values: new Map(), unchanged: new Map(), notes: [] };
  await requireReadable(planOf(file.configuration, current, none), current, file);
}

test('searches that cannot be read are named all at once, with their places', async () => {
  await expect(
    read('{ name: new, q: "(a" }', '{ name: fine, q: a }', '{ name: old, q: "hosts:x" }'),
  ).rejects.toThrow(
    `f.yaml:4:21: searches[0].q: "(" at character 1 is not closed; add ")"
f.yaml:6:21: searches[2].q: unknown key "hosts" at character 1; did you mean "host"?`,
  );
});

test('names that the file makes, or that only the server may know, are no mistake', async () => {
  await read(
    '{ name: a, q: "level:>incident panel:gone" }',
    '{ name: b, q: "rule:former" }',
    '{ name: old, q: "hots:x" }',
  );
});
