import { expect, test } from 'vitest';
import type { Current } from './entries.ts';
import { parseConfiguration } from './file.ts';
import { planOf } from './plan.ts';
import { prunedTargetLines, requireReadable, requireUnused } from './preconditions.ts';

const panel = { id: 'p1', name: 'old', tags: [], location: '', display: {} };
const channel = { id: 'c1', name: 'chat', kind: 'ntfy', enabled: true, settings: {}, secrets: [] };
const rule = {
  ...{ id: 'r1', name: 'night', enabled: true, when: {}, continue: false, note: '', windows: [] },
  ...{ activeFrom: null, activeUntil: null, timeZone: 'UTC' },
  then: {
    ...{ panels: { ids: ['p1'] }, channels: ['c1'] },
    escalate: [{ afterMs: 60_000, panels: { ids: ['p1'] } }],
  },
};
const prunedFrom = {
  ...{ levels: [], mappings: [], onCall: [], searches: [], tokens: [] },
  ...{ panels: [panel], channels: [channel], rules: [rule] },
} as unknown as Current;

async function planned(text: string) {
  const file = await parseConfiguration(`version: 1\n${text}`, 'f.yaml');
  const none = { entries: file.configuration.channels, values: new Map(), unchanged: new Map(), notes: [] };
  return { file, plan: planOf(file.configuration, prunedFrom, none) };
}

test('a rule that is only on the server may lose what --prune deletes, and each loss is named once', async () => {
  const { file, plan } = await planned('channels: []\npanels: []\n');
  expect(() => requireUnused(plan, prunedFrom, file)).not.toThrow();
  expect(prunedTargetLines(plan, prunedFrom)).toEqual([
    'rule "night" chooses panel "old", which is deleted',
    'rule "night" names channel "chat", which is deleted',
  ]);
});

test('a rule that is only on the server keeps its on-call schedule, which the server would not delete', async () => {
  const schedule = { id: 's1', name: 'Ops', people: [{ name: 'Ana' }], timeZone: 'UTC', alertBeforeMs: 0 };
  const onServer = {
    ...prunedFrom,
    onCall: [{ ...schedule, rota: null, calendar: { url: 'https://calendar.example/a.ics' } }],
    rules: [{ ...rule, then: { onCall: 's1' } }],
  } as unknown as Current;
  const { file } = await planned('onCall: []\n');
  const none = { entries: undefined, values: new Map(), unchanged: new Map(), notes: [] };
  const plan = planOf(file.configuration, onServer, none);
  expect(() => requireUnused(plan, onServer, file)).toThrow(
    'rule "night" names the on-call schedule "Ops", which --prune would delete: add the schedule to the file',
  );
});

test.each([
  ['panels: { names: [old] }', ':4:50: rules[0].then.panels.names[0]: --prune would delete the panel "old"'],
  [
    'escalate: [{ afterMs: 60000, panels: { names: [old] } }]',
    ':4:79: rules[0].then.escalate[0].panels.names[0]: --prune would delete the panel "old"',
  ],
  ['channels: [chat]', ':4:43: rules[0].then.channels[0]: --prune would delete the channel "chat"'],
])('a rule of the file may not: the file could not be applied again (%s)', async (then, problem) => {
  const { file, plan } = await planned(
    `channels: []\npanels: []\nrules: [{ name: night, then: { ${then} } }]\n`,
  );
  expect(() => requireUnused(plan, prunedFrom, file)).toThrow(
    `f.yaml${problem}: add it to the file, or take it out of the rule`,
  );
});

const searchedIn: Current = {
  ...{ levels: [], mappings: [], onCall: [], channels: [], panels: [], rules: [], tokens: [] },
  searches: [{ id: 's1', name: 'old', q: 'hots:x', createdAt: '2026-11-20T10:00:00.000Z', createdBy: 'a' }],
};

async function read(...searches: string[]): Promise<void> {
  const entries = searches.map((search) => `  - ${search}\n`).join('');
  const text = `version: 1\nlevels: [{ name: incident }]\nsearches:\n${entries}`;
  const file = await parseConfiguration(text, 'f.yaml');
  const none = { entries: undefined, values: new Map(), unchanged: new Map(), notes: [] };
  await requireReadable(planOf(file.configuration, searchedIn, none), searchedIn, file);
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
