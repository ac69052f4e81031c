import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { IntakeDesk } from '../support/intake.ts';
import { limitMs } from '../support/patience.ts';

let desk: IntakeDesk;
beforeAll(async () => {
  desk = await IntakeDesk.open({ BELFRY_RATE_AUTH: 'off', BELFRY_RATE_TENANT: 'off' });
});
afterAll(() => desk.close());

const typed = (body: string) => ({ body, headers: { 'content-type': 'application/json' } });
const accepted = (body: string) => desk.accepted(typed(body));
const refused = (body: string) => desk.refused(400, typed(body));
const deep = (depth: number, [open, close]: [string, string]) => open.repeat(depth) + close.repeat(depth);

describe('depth', () => {
  it.each<[string, [string, string]]>([
    ['arrays', ['[', ']']],
    ['objects', ['{"a":', '}']],
  ])(
    '10,000 %s inside each other are ignored in an unknown field and refused in a known one',
    async (_, pair) => {
      const value = deep(10_000, pair).replace('":}', '":1}');
      expect(await accepted(`{"title":"T","message":"M","x":${value}}`)).toMatchObject({ title: 'T' });
      for (const field of ['title', 'message', 'level', 'ttl', 'ip', 'host', 'key', 'url']) {
        expect(await refused(`{"title":"T","message":"M","${field}":${value}}`)).toMatch(
          new RegExp(`^${field} `),
        );
      }
    },
  );

  it('32,000 brackets alone are a 400', async () => {
    expect(await refused(deep(32_000, ['[', ']']))).toMatch(/one JSON object/);
    expect(await refused('['.repeat(65_000))).toMatch(/not valid JSON/);
    expect(await refused('{"a":'.repeat(13_000))).toMatch(/not valid JSON/);
  });
});

describe('names', () => {
  it('__proto__ and constructor lend no fields, and change nothing for those who come after', async () => {
    for (const name of ['__proto__', 'constructor', 'prototype']) {
      expect(await refused(`{"${name}":{"title":"T","message":"M"}}`)).toBe('title is required');
      expect(
        await accepted(`{"title":"T","message":"M","${name}":{"host":"h","level":"critical"}}`),
      ).toMatchObject({
        host: null,
        level: 'info',
      });
    }
    expect(
      await accepted('{"title":"T","message":"M","constructor":{"prototype":{"host":"h"}}}'),
    ).toMatchObject({ host: null });
    expect(({} as Record<string, unknown>).host).toBeUndefined();
    expect(await refused('{}')).toBe('title is required');
  });

  it('of functions that objects have are unknown fields', async () => {
    const names = [
      'toString',
      'valueOf',
      'hasOwnProperty',
      'toJSON',
      'then',
      'length',
      '',
      '0',
      '\\u0000',
      ' title',
      'Title',
      'TITLE',
    ];
    expect(
      await accepted(
        `{"title":"T","message":"M",${names.map((name) => `"${name}":{"title":"x"}`).join(',')}}`,
      ),
    ).toMatchObject({ title: 'T' });
    expect(await refused('{"Title":"T","Message":"M"}')).toBe('title is required');
  });

  it('given twice: the last counts, as JSON.parse has it, and it alone is checked', async () => {
    expect(await accepted('{"title":"first","message":"M","title":"last"}')).toMatchObject({ title: 'last' });
    expect(await refused('{"title":"first","message":"M","title":null}')).toBe('title is required');
    expect(await accepted('{"title":5,"message":"M","ttl":"x","title":"last","ttl":7}')).toMatchObject({
      title: 'last',
      ttl: 7,
    });
  });

  it('10,000 of them are ignored', async () => {
    const many = Array.from({ length: 5_000 }, (_, i) => `"f${i}":0`).join(',');
    expect(await accepted(`{${many},"title":"T","message":"M"}`)).toMatchObject({ title: 'T' });
  });
});

describe('numbers', () => {
  it.each([
    '1e400',
    '-1e400',
    '1e308',
    '9007199254740993',
    '0.1',
    '5.000000001',
    '-0.5',
    '1e-400000',
    '604800000.5',
    '18446744073709551616',
  ])('ttl %s is a 400 or a whole number within its bounds', async (ttl) => {
    const answer = await desk.post(typed(`{"title":"T","message":"M","ttl":${ttl}}`));
    if (answer.status === 200) expect((await desk.find(answer.json.id)).ttl).toBe(Number(ttl));
    else expect(answer.json.error).toMatch(/^ttl must be a whole number/);
    expect([answer.status, Number(ttl)]).toEqual(Number(ttl) === 0 ? [200, 0] : [400, Number(ttl)]);
  });

  it.each([
    ['5e3', 5000],
    ['5000.0', 5000],
    ['-0', 0],
    ['0e0', 0],
  ])('ttl %s is %i', async (ttl, stored) => {
    expect(await accepted(`{"title":"T","message":"M","ttl":${ttl}}`)).toMatchObject({ ttl: stored });
  });

  it.each(['01', '+1', '.5', '5.', '0x10', 'Infinity', 'NaN', '1_000', '١'])(
    'ttl %s is no JSON',
    async (ttl) => {
      expect(await refused(`{"title":"T","message":"M","ttl":${ttl}}`)).toMatch(/not valid JSON/);
    },
  );

  it('of 60,000 digits is refused without delay', async () => {
    const began = performance.now();
    expect(await refused(`{"title":"T","message":"M","ttl":${'9'.repeat(60_000)}}`)).toMatch(/^ttl /);
    await accepted(`{"title":"T","message":"M","x":${'9'.repeat(60_000)}}`);
    expect(performance.now() - began).toBeLessThan(limitMs(1_000));
  });
});

describe('text that means something to others', () => {
  it.each([
    "'; DROP TABLE log; --",
    '<script>alert(1)</script>',
    '\x24{jndi:ldap://x/a}',
    '{{7*7}}',
    "=cmd|' /C calc'!A0",
    '%s%s%n',
    '../../etc/passwd',
    '\u202egnp.exe\u2069',
    '\ufeffBOM inside \ufeff',
    'a\u0001\u0008\u001b[31mred',
    'a\r\nSet-Cookie: x=1\r\n\r\nHTTP/1.1 200 OK',
    'data: x\n\nevent: clear\ndata: {}\n\n',
    'Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́Ǫ̵̹̻̝̳͂̌̌͘!͖̬̰̙̗̿̋ͥͥ̂ͣ̐́́͜͞',
    '\uffff\ufffe\u{10ffff}',
  ])('%j is stored and returned as it is', async (text) => {
    const panel = await desk.server.panel(desk.token, 'mirror');
    const record = await accepted(
      JSON.stringify({ title: `.${text}.`, message: `.${text}.`, key: `.${text}.` }),
    );
    expect(record).toMatchObject({ title: `.${text}.`, message: `.${text}.`, key: `.${text}.` });
    const { data } = await panel.stream.next(({ data: { id } }) => id === record.id);
    expect(data).toMatchObject({ title: `.${text}.`, message: `.${text}.` });
    panel.stream.close();
  });
});
