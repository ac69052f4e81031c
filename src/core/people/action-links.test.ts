import { expect, test } from 'vitest';
import { ActionLinks } from './action-links.ts';

const links = new ActionLinks('a key of the server, long enough');
const reader = { tenant: 1, panel: 'p1', credential: 'c1' };
const action = { tenant: 1, notification: 'n1', position: 7, button: 'acknowledge' } as const;
const link = (of = reader, to: Parameters<ActionLinks['action']>[0] = action) =>
  `${links.reader(of)}.${links.action(to)}`;

test('a link says who may do what', () => {
  expect(links.read(link())).toEqual({ ...reader, ...action });
});

test('nothing in a link can be changed, and its two parts are of one tenant', () => {
  const parts = link().split('.');
  for (const i of parts.keys()) {
    expect(links.read(parts.with(i, 'x').join('.'))).toBeUndefined();
    expect(links.read(parts.with(i, '').join('.'))).toBeUndefined();
    expect(links.read(parts.toSpliced(i, 1).join('.'))).toBeUndefined();
  }
  expect(links.read(link().replace('.7.', '.07.'))).toBeUndefined();
  expect(links.read(link().replace('.acknowledge.', '.shelve.'))).toBeUndefined();
  expect(links.read(link(reader, { ...action, tenant: 2 }))).toBeUndefined();
  expect(links.read(link({ ...reader, tenant: 2 }))).toBeUndefined();
  expect(links.read(`${links.reader(reader)}.${links.reader(reader)}`)).toBeUndefined();
  expect(links.read(`${link()}.x`)).toBeUndefined();
  expect(new ActionLinks('another key of the server').read(link())).toBeUndefined();
});
