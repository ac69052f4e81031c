import { readFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { routeTo } from '#test/support/history-model.ts';
import { Statements } from './partitions.ts';
import { joinId, Routes, splitId, toBlob, uuidToText } from './rows.ts';

const schema = readFileSync(new URL('../migrations/0001-baseline.sql', import.meta.url), 'utf8');

function open() {
  const db = new Database(':memory:');
  db.exec(schema);
  return db;
}

test('a uuid survives the way to bytes and back, and anything else is no uuid', () => {
  const id = '0199c0de-7000-7abc-8def-0123456789ab';
  expect(uuidToText(toBlob(id))).toBe(id);
  expect(toBlob(id.toUpperCase())).toEqual(toBlob(id));
  for (const text of ['', 'x', `${id}0`, id.replaceAll('-', ''), `'${id.slice(1)}`])
    expect(() => toBlob(text)).toThrow('not a UUID');
});

test('an id survives the way to its time and the rest and back', () => {
  for (const id of ['0199c0de-7000-7abc-8def-0123456789ab', '00000000-0000-0000-0000-000000000000']) {
    const { time, rest } = splitId(id);
    expect(joinId(time, rest)).toBe(id);
  }
  expect(splitId('0199c0de-7000-7abc-8def-0123456789ab').time).toBe(0x0199c0de7000);
  expect(() => splitId('x')).toThrow('not a UUID: x');
});

test('a route is read by its number, and never one of another tenant', () => {
  const db = open();
  const insert = db.prepare('INSERT INTO routes (tenant, route, partition) VALUES (?, ?, 1)');
  const add = (tenant: number, revision: number) =>
    insert.run(tenant, JSON.stringify({ ...routeTo({ tags: ['noc'] }), revision }));
  const routes = new Routes(new Statements(db));
  add(1, 1);
  add(2, 99);
  expect(routes.get(1, 1).revision).toBe(1);
  expect(() => routes.get(1, 2)).toThrow('route 2 of tenant 1 is missing');
});
