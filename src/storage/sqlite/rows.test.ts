import { readFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import type { Route } from '../../core/ports.ts';
import {
  entryOf,
  type NotificationRow,
  notificationColumns,
  RouteReader,
  uuidToBlob,
  uuidToText,
} from './rows.ts';

const schema = readFileSync(new URL('./migrations/0001-baseline.sql', import.meta.url), 'utf8');

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
  expect(uuidToText(uuidToBlob(id)!)).toBe(id);
  expect(uuidToBlob(id.toUpperCase())).toEqual(uuidToBlob(id));
  for (const text of ['', 'x', `${id}0`, id.replaceAll('-', ''), `'${id.slice(1)}`])
    expect(uuidToBlob(text)).toBeUndefined();
});

test('tenant and position come out exactly, also where the entry passes 2^53', () => {
  const db = open();
  const tenant = 8_000_001;
  const position = 2 ** 40 - 1;
  db.prepare(`INSERT INTO notifications VALUES (${entryOf('?', '?')}, x'00', 1, 't', 'm', 'info', 20, 0, 'info', NULL, NULL,
    NULL, NULL, NULL, NULL, NULL, NULL, '::1', x'00', 'tok', 1, 0, NULL, 0)`).run(tenant, position);
  const row = db.prepare<[], NotificationRow>(`SELECT ${notificationColumns} FROM notifications n`).get();
  expect(row).toMatchObject({ tenant, position });
});

test('routes that are added later are found, and those of another tenant never', () => {
  const db = open();
  const add = db.prepare('INSERT INTO routes VALUES (?, ?, ?)');
  const routes = new RouteReader(db);
  add.run(1, 1, JSON.stringify(route(1)));
  add.run(2, 1, JSON.stringify(route(99)));
  expect(routes.idsWhere(1, () => true)).toEqual([1]);
  add.run(1, 2, JSON.stringify(route(2)));
  add.run(1, 3, JSON.stringify(route(3)));
  expect(routes.get(1, 3).revision).toBe(3);
  expect(routes.idsWhere(1, ({ revision }) => revision > 1).sort()).toEqual([2, 3]);
  expect(routes.idsWhere(3, () => true)).toEqual([]);
  expect(() => routes.get(2, 2)).toThrow('route 2 of tenant 2 is missing');
});
