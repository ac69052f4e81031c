import { expect, test } from 'vitest';
import { alarmName, keyPatternOf } from '../kinds/mqtt.ts';
import { commandTopics, readCommand } from './mqtt.ts';

test('the alarm of a command is what its topic has in the place of {alarm}', () => {
  const plain = commandTopics('{tenant}/alarms/{alarm}', 'a.b');
  expect(plain.filter).toBe('a.b/alarms/+/set');
  expect(plain.alarmOf('a.b/alarms/disk/set')).toBe('disk');
  for (const other of ['a.b/alarms/disk', 'axb/alarms/disk/set', 'a.b/alarms/a/b/set', 'a.b/alarms//set'])
    expect(plain.alarmOf(other)).toBeUndefined();
  const twice = commandTopics('x-{alarm}/of/{alarm}', 't');
  expect(twice.filter).toBe('+/of/+/set');
  expect(twice.alarmOf('x-a/of/a/set')).toBe('a');
  expect(twice.alarmOf('x-a/of/b/set')).toBeUndefined();
  // No alarm has such a name, and topics with several of them would take long to compare.
  expect(plain.alarmOf(`a.b/alarms/${'x'.repeat(109)}/set`)).toHaveLength(109);
  expect(plain.alarmOf(`a.b/alarms/${'x'.repeat(200)}/set`)).toBeUndefined();
  // What a tenant's name has in it is no placeholder and no level.
  expect(commandTopics('{tenant}/{alarm}', '+/$&').filter).toBe('___&/+/set');
});

test('a command is a word or JSON, and nothing else', () => {
  const read = (payload: unknown) =>
    readCommand(Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload)), 'disk');
  expect(read(' shelve\n')).toEqual({ kind: 'shelve', alarmName: 'disk', by: undefined, note: null });
  expect(read({ action: 'clear', by: ' Ann\n', note: 'a\u0000b' })).toMatchObject({ by: 'Ann', note: 'a b' });
  expect(read({ action: 'clear', by: 7, note: {} })).toMatchObject({ by: undefined, note: null });
  for (const wrong of [
    '',
    'Acknowledge it',
    '{',
    '[]',
    { action: 'constructor' },
    `${' '.repeat(5_000)}clear`,
  ])
    expect(read(wrong)).toBeUndefined();
});

test('the name of a key in a topic leads back to the key', async () => {
  const { matchesPattern } = await import('#core/search/search-words.ts');
  const { searchForm } = await import('#contract/history/fields.ts');
  for (const key of ['disk/1', 'a*?\\/B_', '+#$', '満/'.repeat(120), 'x'.repeat(255), `${'y'.repeat(99)}…/`])
    expect(matchesPattern(keyPatternOf(alarmName(key)), searchForm('key', key)), key).toBe(true);
});
