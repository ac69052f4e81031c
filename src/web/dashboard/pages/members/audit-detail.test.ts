import { expect, test } from 'vitest';
import { readDetail as read } from './audit-detail.ts';

const words = { field: (name: string) => name, value: (_: string, value: unknown) => String(value) };
const readDetail = (detail: Parameters<typeof read>[0]) => read(detail, words);

test('a thing is called by its name, and what is empty is left out', () => {
  expect(
    readDetail({ name: 'ci', scopes: ['notify', 'panel'], rate: { burst: 2 }, note: '', until: null }),
  ).toEqual({ name: 'ci', facts: ['scopes: notify, panel', 'rate: {"burst":2}'] });
});

test('a change reads from what was to what is, field by field', () => {
  expect(
    readDetail({
      email: 'ann@example.org',
      before: { role: 'viewer', scopes: [] },
      after: { role: 'admin', scopes: ['notify', 'panel'] },
    }),
  ).toEqual({ name: 'ann@example.org', facts: ['role: viewer → admin', 'scopes: notify, panel'] });
  expect(readDetail({ before: { location: 'Berlin' }, after: { location: null } }).facts).toEqual([
    'location: Berlin → –',
  ]);
});

test('a new order reads as a whole, and what is new has nothing before it', () => {
  expect(readDetail({ moved: 2, before: ['b', 'c'], after: ['c', 'b'] }).facts).toEqual([
    'b, c → c, b',
    'moved: 2',
  ]);
  expect(readDetail({ before: null, after: { rank: 35 } }).facts).toEqual(['rank: 35']);
});

test('without details there is nothing to say', () => {
  expect(readDetail({})).toEqual({ name: undefined, facts: [] });
});

test('names and values of fields are in the words of the reader', () => {
  const german = {
    field: (name: string) => ({ role: 'Rolle', expiresAt: 'Läuft ab' })[name] ?? name,
    value: (field: string, value: unknown) => (field === 'role' ? `<${value}>` : `am ${value}`),
  };
  const after = { role: 'admin', expiresAt: '2027-01-01' };
  expect(read({ before: { role: 'viewer', expiresAt: null }, after }, german).facts).toEqual([
    'Rolle: <viewer> → <admin>',
    'Läuft ab: am 2027-01-01',
  ]);
});
