import { describe, expect, it } from 'vitest';
import { labelEntries, labelsText } from '#contract/history/labels.ts';
import { limits } from '#contract/limits.ts';
import { read, retryKeys } from '#test/support/integration.ts';
import { longestText, PayloadWork } from '../payload.ts';
import { customFormat } from './custom.ts';

const ups = {
  device: { name: 'ups-1', addr: '10.0.0.9' },
  events: [
    { id: 1, what: 'On battery', sev: 'HIGH', 'a/b': { 'm~n': 7 }, list: ['x', 'y'] },
    { id: 2, what: 'Mains back', sev: 'gone' },
  ],
};
const mapping = {
  items: '/events',
  fields: {
    title: '{^/device/name}: {/what}',
    message: 'load {/a~1b/m~0n} {/list/1}{/list}{/none}{/list/length} {not a pointer}',
    level: '{/sev}',
    host: '{^/device/addr}',
    key: 'ups:{^/device/name}:{/id}',
    url: 'http://{^/device/addr}/',
    identity: '{/id}-{/sev}',
  },
  labels: { site: '{^/device/name}', 'load.max': '{/a~1b/m~0n}', none: '{/none}' },
  levels: { High: 'critical', gone: 'ok' },
};

it('fills templates from the item and from the whole payload; what has no text is empty', () => {
  const common = { ip: '10.0.0.9', url: 'http://10.0.0.9/' };
  expect(read(customFormat(mapping), ups)).toMatchObject([
    {
      title: 'ups-1: On battery',
      message: 'load 7 y {not a pointer}',
      level: 'critical',
      key: 'ups:ups-1:1',
      labels: labelsText({ site: 'ups-1', 'load.max': '7' }),
      ...common,
    },
    {
      title: 'ups-1: Mains back',
      message: 'load   {not a pointer}',
      level: 'ok',
      key: 'ups:ups-1:2',
      labels: labelsText({ site: 'ups-1' }),
      ...common,
    },
  ]);
  expect(new Set(retryKeys(customFormat(mapping), ups)).size).toBe(2);
});

it('takes a payload without a list as one, and the levels that senders share', () => {
  const one = customFormat({ fields: { title: '{/t}', level: '{/l}' } });
  expect(read(one, { t: 'x', l: 'Disaster' })).toMatchObject([
    { title: 'x', message: 'x', level: 'critical', key: null },
  ]);
  expect(read(one, { t: 'x', l: 'odd' })).toMatchObject([{ level: 'info' }]);
  expect(
    read(customFormat({ fields: { title: 't', level: '{/l}' }, levels: { '*': 'error' } }), { l: 'odd' }),
  ).toMatchObject([{ level: 'error' }]);
  expect(read(customFormat({ fields: { title: '{/0}' } }), ['first'])).toMatchObject([{ title: 'first' }]);
});

describe('a mapping', () => {
  it.each([
    ['fields.title', { fields: { title: '{/a~2}' } }],
    ['fields.title', { fields: { title: '{/a}'.repeat(21) } }],
    ['fields.url', { fields: { title: 't', url: `{${'/a'.repeat(21)}}` } }],
    ['labels.env', { fields: { title: 't' }, labels: { env: '{/a~2}' } }],
    ['items', { items: '/a'.repeat(21), fields: { title: 't' } }],
  ])('that costs too much or cannot be read is refused, and its field is named: %s', (path, wrong) => {
    expect(() => customFormat(wrong)).toThrow(path);
  });

  it('refuses a payload that does not fit', () => {
    const format = customFormat(mapping);
    for (const body of [null, 1, 'x', [], {}, { events: 1 }, { events: [1] }])
      expect(() => read(format, body)).toThrow(expect.objectContaining({ code: 'bad-request' }));
    expect(() => read(customFormat({ fields: { title: '{/none}' } }), {})).toThrow(
      'neither a title nor a message',
    );
    expect(() => read(customFormat({ fields: { title: '{/__proto__}{/constructor/name}' } }), {})).toThrow(
      'neither',
    );
  });

  it('reads the list that the payload itself is, and a single item in its place', () => {
    const format = customFormat({ items: '', fields: { title: '{/t}' } });
    expect(read(format, [{ t: 'a' }, { t: 'b' }]).map(({ title }) => title)).toEqual(['a', 'b']);
    expect(read(format, { t: 'a' }).map(({ title }) => title)).toEqual(['a']);
    expect(read(format, Array(1_002).fill({ t: 'a' })).at(-1)?.title).toBe('2 more were not stored');
  });

  it('may name labels as anything that a label may be called, and cuts long values', () => {
    const labels = JSON.parse('{"__proto__": "{/a}", "constructor": "{/__proto__}", "toString": "x"}');
    const [item] = read(customFormat({ fields: { title: 't' }, labels }), { a: 'y'.repeat(900_000) });
    const long = `${'y'.repeat(limits.labelValueChars - 1)}…`;
    expect(labelEntries(item?.labels ?? null)).toEqual([
      ['__proto__', long],
      ['toString', 'x'],
    ]);
  });

  it('stays small, whatever the payload', () => {
    const big = { a: 'x'.repeat(900_000) };
    const [item] = read(customFormat({ fields: { title: '{/a}', message: '{/a}'.repeat(20) } }), big);
    expect([...(item?.message ?? '')].length).toBe(16_384);
  });

  it('holds no value that is longer than a field, however many items name it', () => {
    const format = customFormat({ items: '/list', fields: { title: 'x{^/big}', message: '{^/big}{^/big}' } });
    const body = { big: 'y'.repeat(900_000), list: Array(10).fill({}) };
    const payload = { body, header: () => undefined, query: new URLSearchParams(), params: {} };
    for (const { title, message } of format.read(payload))
      expect([title?.length, message?.length]).toEqual([longestText, longestText]);
  });
});

it('reads a bounded number of characters, however often a mapping repeats a long value', () => {
  const blank = ' '.repeat(900_000);
  const events = Array.from({ length: 1_000 }, () => ({ what: 'x' }));
  const one = customFormat({ items: '/events', fields: { title: 'x', message: '{^/pad}' } });
  const hostile = customFormat({
    items: '/events',
    fields: { title: 'x', message: '{^/pad}'.repeat(20), key: '{^/pad}'.repeat(20) },
  });
  const refusal = 'reads more than 8388608 characters of this payload';
  expect(() => read(one, { pad: blank, events })).toThrow(refusal);
  expect(() => read(hostile, { pad: blank, events: events.slice(0, 100) })).toThrow(refusal);
  expect(() => read(hostile, { pad: 'y'.repeat(20_000), events })).toThrow(refusal);
  // Many steps of pointers are work, too.
  const steps = '/a'.repeat(20);
  const deep = customFormat({
    items: '/events',
    fields: { title: 'x', message: `{^${steps}}`.repeat(20), host: `{^${steps}}`.repeat(20) },
  });
  expect(() => read(deep, { events })).not.toThrow();
  const work = new PayloadWork(0);
  deep.read({ body: { events }, work, header: () => undefined, query: new URLSearchParams(), params: {} });
  expect(work.extraTokens).toBeGreaterThan(50);
});

it('takes a payload with many long texts, and counts them against the rate', () => {
  const events = Array.from({ length: 1_000 }, (_, id) => ({ id, what: 'w'.repeat(1_000) }));
  const format = customFormat({ items: '/events', fields: { title: '{/id}', message: '{/what}' } });
  const work = new PayloadWork(1_000_000);
  const items = format.read({
    body: { events },
    work,
    header: () => undefined,
    query: new URLSearchParams(),
    params: {},
  });
  expect(items).toHaveLength(1_000);
  expect(work.extraTokens).toBe(31);
});
