import { readFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import type { Route } from '#core/ports.ts';
import { Statements } from './partitions.ts';
import { Routes } from './routes.ts';
import { joinId, splitId, toBlob, uuidToText } from './rows.ts';

const schema = readFileSync(new URL('../migrations/0001-baseline.sql', import.meta.url), 'utf8');

function open() {
  const db = new Database(':memory:');
  db.exec(schema);
  return db;
}

const route = (revision: number): Route => ({
  revision,
  rules: [],
  muted: false,
  target: { all: true, ids: [], tags: [] },
});

test('a uuid survives the way to bytes and back, and anything else is no uuid', () => {
  const id = '0199c0de-7000-7abc-8def-0123456789ab';
  expect(uuidToText(toBlob(id))).toBe(id);
  expect(toBlob(id.toUpperCase())).toEqual(toBlob(id));
  for (const text of ['', 'x', `${id}0`, id.replaceAll('-', ''), `'${id.slice(1)}`])
    expect(() => toBlob(text)).toThrow('not a UUID');
});

test('an id survives the way to its time and the rest and back', () => {
  for (const id of ['0199c0de-7000-7abc-8def-0123456789ab', '00000000-0000-0000-0000-000000000000']) {
    const { time, rest } = splitId(id)!;
    expect(joinId(time, rest)).toBe(id);
  }
  expect(splitId('0199c0de-7000-7abc-8def-0123456789ab')?.time).toBe(0x0199c0de7000);
  expect(splitId('x')).toBeUndefined();
});

test('routes that are added later are found, and those of another tenant never', () => {
  const db = open();
  const insert = db.prepare('INSERT INTO routes (tenant, route, partition) VALUES (?, ?, 1)');
  const add = (tenant: number, revision: number) => insert.run(tenant, JSON.stringify(route(revision)));
  const routes = new Routes(new Statements(db));
  add(1, 1);
  add(2, 99);
  expect(routes.idsWhere(1, () => true)).toEqual([1]);
  add(1, 2);
  add(1, 3);
  expect(routes.get(1, 4).revision).toBe(3);
  expect(routes.idsWhere(1, ({ revision }) => revision > 1).sort()).toEqual([3, 4]);
  expect(routes.idsWhere(3, () => true)).toEqual([]);
  expect(() => routes.get(2, 3)).toThrow('route 3 of tenant 2 is missing');
});
