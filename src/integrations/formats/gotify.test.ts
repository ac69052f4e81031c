import { expect, it } from 'vitest';
import { noTexts } from '#contract/history/fields.ts';
import { read } from '#test/support/integration.ts';
import { gotify } from './gotify.ts';

it('a message has title, text, priority and link', () => {
  const extras = {
    'client::notification': { click: { url: 'https://gotify.net' } },
    'client::display': { contentType: 'text/markdown' },
  };
  expect(read(gotify, { title: 'my title', message: 'my message', priority: 5, extras })).toEqual([
    {
      ...noTexts,
      title: 'my title',
      message: 'my message',
      level: 'warning',
      ttl: null,
      url: 'https://gotify.net',
    },
  ]);
});

it('a text that is one block of code, as Proxmox sends it, has no marks of Markdown', () => {
  const message = '```\nVMID  Name  Status\n100   web   err\n```';
  expect(read(gotify, { message, priority: 9 })[0]?.message).toBe('VMID  Name  Status\n100   web   err');
  for (const text of ['```', '```\n```', 'a ```\nb\n```'])
    expect(read(gotify, { message: text })[0]?.message).toBe(text);
});

it.each([
  [undefined, 'info'],
  [0, 'info'],
  [3, 'info'],
  ['4', 'warning'],
  [7, 'warning'],
  [8, 'error'],
  [10, 'error'],
  [-1, 'info'],
])('priority %s is %s', (priority, level) => {
  expect(read(gotify, { message: 'm', priority })[0]?.level).toBe(level);
});

it('takes levels from the query by priority, and the message too', () => {
  expect(read(gotify, { message: 'm', priority: 10 }, { query: 'level=10:critical' })[0]?.level).toBe(
    'critical',
  );
  expect(read(gotify, undefined, { query: 'message=m' })[0]).toMatchObject({ title: 'Gotify', message: 'm' });
});

it.each([
  undefined,
  {},
  { message: ' ' },
  'x',
  [],
  { message: 'm', priority: 'high' },
  { message: 'm', priority: 1.5 },
  { message: 'm', extras: 'x', priority: 'x' },
  { message: 'm', extras: { 'client::notification': 'x' } },
])('%j is refused', (body) => {
  expect(() => read(gotify, body)).toThrow(expect.objectContaining({ code: 'bad-request' }));
});
