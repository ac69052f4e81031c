import { expect, test } from 'vitest';
import type { Current } from './entries.ts';
import { parseConfiguration } from './file.ts';
import { planOf } from './plan.ts';
import { prunedTargetLines, requireUnused } from './prune.ts';

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
const current = {
  ...{ levels: [], mappings: [], searches: [], tokens: [] },
  ...{ panels: [panel], channels: [channel], rules: [rule] },
} as unknown as Current;

async function planned(text: string) {
  const file = await parseConfiguration(`version: 1\n${text}`, 'f.yaml');
  const none = { entries: file.configuration.channels, values: new Map(), unchanged: new Map(), notes: [] };
  return { file, plan: planOf(file.configuration, current, none) };
}

test('a rule that is only on the server may lose what --prune deletes, and each loss is named once', async () => {
  const { file, plan } = await planned('channels: []\npanels: []\n');
  expect(() => requireUnused(plan, current, file)).not.toThrow();
  expect(prunedTargetLines(plan, current)).toEqual([
    'rule "night" chooses panel "old", which is deleted',
    'rule "night" names channel "chat", which is deleted',
  ]);
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
  expect(() => requireUnused(plan, current, file)).toThrow(
    `f.yaml${problem}: add it to the file, or take it out of the rule`,
  );
});
