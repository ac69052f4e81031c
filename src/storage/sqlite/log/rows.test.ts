import { readFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { draft, HistoryModel, routeTo } from '#test/support/history-model.ts';
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

test('labels that repeat are stored once, and labels that are always new leave room for hosts', () => {
  const model = new HistoryModel();
  const labels = (pod: number) =>
    JSON.stringify({
      cluster: 'production-eu-west-1',
      alertname: 'KubePodCrashLooping',
      pod: `web-${pod}`,
      namespace: 'shop',
      severity: 'critical',
      team: 'storefront',
    });
  model.transaction(() => {
    for (let n = 0; n < 3; n++) model.append(draft({ labels: labels(0) }));
    for (let pod = 1; pod <= 5_001; pod++) model.append(draft({ labels: labels(pod) }));
    model.append(draft({ host: 'first-seen-now' }));
  });
  const read = (sql: string) => model.db.prepare(sql).pluck().get();
  expect(read("SELECT count(*) FROM log_1_0 WHERE typeof(labels) = 'integer'")).toBeGreaterThan(4_900);
  expect(read(`SELECT count(*) FROM dictionary_1_0 WHERE text = '${labels(0)}'`)).toBe(1);
  expect(read('SELECT typeof(labels) FROM log_1_0 WHERE labels IS NOT NULL ORDER BY row DESC LIMIT 1')).toBe(
    'text',
  );
  expect(read("SELECT count(*) FROM dictionary_1_0 WHERE text = 'first-seen-now'")).toBe(1);
  model.db.close();
});
