import type { IncomingMessage } from 'node:http';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '#core/errors.ts';
import { checkFields } from '#core/intake/notification.ts';
import { processorMs } from '#test/support/processor-time.ts';
import { decodeEncodedWords, readFields, readQueryFields } from './notify-fields.ts';

type Headers = readonly (readonly [string, string | Buffer])[];

/** As Node hands it over: header bytes as Latin-1, names as sent. */
function readAll(body: string | Buffer, ...headers: Headers) {
  const pairs = headers.map(
    ([name, value]) => [name, Buffer.from(value as string).toString('latin1')] as const,
  );
  const request = {
    headers: Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value])),
    rawHeaders: pairs.flat(),
  };
  return readFields(request as unknown as IncomingMessage, Buffer.from(body as string));
}

const read = (body: string | Buffer, ...headers: Headers) => readAll(body, ...headers).fields;

function refusal(body: string | Buffer, ...headers: Headers): [code: string, message: string] {
  try {
    read(body, ...headers);
  } catch (error) {
    if (error instanceof AppError) return [error.code, error.message];
    throw error;
  }
  throw new Error('accepted');
}

const json = ['Content-Type', 'application/json'] as const;
const form = ['Content-Type', 'application/x-www-form-urlencoded'] as const;
const plain = ['Content-Type', 'text/plain'] as const;

describe('what the body is', () => {
  it.each(
    [
      'application/json',
      'application/json; charset=utf-8',
      'APPLICATION/JSON',
      ' application/json ;x=y',
      'application/vnd.acme+json',
      'application/problem+json;a=b',
      'text/plain',
      'text/plain; charset=utf-8',
      'application/x-www-form-urlencoded',
      '',
    ].map((type) => [type]),
  )('a body that starts with { is JSON under the type "%s"', (type) => {
    expect(read('{"title":"a"}', ['content-type', type])).toEqual({ title: 'a' });
    expect(read('\ufeff \r\n\t{"title":"a"}', ['content-type', type])).toEqual({ title: 'a' });
  });

  it('a body that starts with { is JSON under no type', () => {
    expect(read('{"title":"a"}')).toEqual({ title: 'a' });
  });

  it.each(
    [
      'application/xml',
      'multipart/form-data; boundary=x',
      'text/html',
      'application/octet-stream',
      'application/jsonx',
      'json',
      'application/json+x',
      'text/plainer',
      'application/json, text/plain',
    ].map((type) => [type]),
  )('anything else non-empty is unsupported: %s', (type) => {
    expect(refusal('{"title":"a"}', ['content-type', type])[0]).toBe('unsupported-type');
    expect(refusal('x', ['content-type', type])[0]).toBe('unsupported-type');
    expect(read('', ['content-type', type], ['X-Title', 'a'])).toEqual({ title: 'a' });
  });

  it('under no type, what starts with neither { nor [ is the message', () => {
    for (const body of ['x', 'title=a', '"a"', ' ']) expect(read(body)).toEqual({ message: body });
    expect(refusal(' [1]')).toEqual(['bad-request', expect.stringContaining('one JSON object')]);
  });

  it.each(['gzip', 'br', 'identity', 'GZIP, identity', 'x'].map((encoding) => [encoding]))(
    'any Content-Encoding is unsupported: %s',
    (encoding) => {
      expect(refusal('{"title":"a"}', json, ['Content-Encoding', encoding])[0]).toBe('unsupported-type');
      expect(refusal('', ['Content-Encoding', encoding])[0]).toBe('unsupported-type');
    },
  );
});

describe('a JSON body', () => {
  it('gives its own known fields; null is absent, unknown ones are ignored', () => {
    const body =
      '{"title":"a","message":null,"ttl":5,"id":"x","position":1,"__proto__":{"host":"h"},"constructor":{"key":"k"}}';
    expect(read(body, json)).toEqual({ title: 'a', ttl: 5 });
  });

  it.each(['[]', '"a"', '1', 'null', 'true', '[{"title":"a"}]'].map((body) => [body]))(
    'must be one object, not %s',
    (body) => {
      expect(refusal(body, json)).toEqual(['bad-request', expect.stringContaining('one JSON object')]);
    },
  );

  it.each(
    [
      '{',
      '{"a"',
      '{"title":"a",}',
      "{'title':'a'}",
      '{"title":"a"} x',
      '{"title":"a\u0000"}',
      '{"title":"\n"}',
      '{title:1}',
      ' ',
      '{"a":01}',
      '{"a":NaN}',
    ].map((body) => [body]),
  )('must be valid JSON: %j', (body) => {
    expect(refusal(body, json)).toEqual([
      'bad-request',
      expect.stringMatching(/^the body is not valid JSON: /),
    ]);
  });

  it('names the fields that other software has for ours', () => {
    const sent = { title: 'a', priority: 1, severity: 'critical', body: null, text: '', toString: 1 };
    expect(readAll(JSON.stringify(sent), json)).toEqual({
      fields: { title: 'a' },
      warning: [
        '"priority" is not read: use "level"',
        '"severity" is not read: use "level"',
        '"body" is not read: use "message"',
        '"text" is not read: use "message"',
      ].join('; '),
    });
    expect(readAll('{"title":"a","level":"info","host":"h","x":1}', json).warning).toBeUndefined();
  });

  it('a refusal does not repeat what was sent', () => {
    expect(refusal('{"password":hunter2}', json)[1]).not.toContain('hunter2');
  });
});

describe('a form body', () => {
  it('gives the same names', () => {
    expect(read('title=Disk+full&message=caf%C3%A9%0A%26&ttl=5000&nothing=1', form)).toEqual({
      title: 'Disk full',
      message: 'café\n&',
      ttl: 5000,
    });
  });

  it('wins over headers, even if empty', () => {
    expect(read('title=', form, ['X-Title', 'b'], ['X-Host', 'h'])).toEqual({ title: '', host: 'h' });
  });

  it('names the fields that other software has for ours, unless it is a message', () => {
    expect(readAll('title=a&body=b&body=c', form).warning).toBe('"body" is not read: use "message"');
    expect(readAll('text=5', form)).toEqual({ fields: { message: 'text=5' }, warning: undefined });
  });

  it('gives each field once', () => {
    expect(refusal('title=a&title=b', form)).toEqual(['bad-request', 'title is given twice in the form']);
  });

  it('must be UTF-8 behind its percent signs too', () => {
    for (const bad of ['%FF', '%C3', '%ED%A0%80', '%C0%AF', 'a%E2%82']) {
      expect(refusal(`message=x&title=${bad}`, form)).toEqual([
        'bad-request',
        expect.stringContaining('UTF-8'),
      ]);
    }
    expect(read('title=%EF%BF%BD', form)).toEqual({ title: '\ufffd' });
    expect(read('title=50%', form)).toEqual({ title: '50%' });
  });

  it.each(['5s', '-1', '+5', '5.0', '0x10', '1e3', '', ' '])(
    'reads ttl as decimal digits only: %j is no number',
    (ttl) => {
      expect(read(`ttl=${encodeURIComponent(ttl)}`, form).ttl).toBeNaN();
    },
  );
});

describe("Alertmanager's webhook", () => {
  const webhook = JSON.stringify({
    receiver: 'belfry',
    groupLabels: { alertname: 'DiskFull' },
    alerts: [{ status: 'firing', labels: { alertname: 'DiskFull' }, annotations: {} }],
  });

  it('is refused with what this address takes', () => {
    expect(refusal(webhook, json)).toEqual([
      'bad-request',
      expect.stringMatching(
        /^title is required: this looks like the webhook of Alertmanager, .*one notification/,
      ),
    ]);
    expect(refusal(webhook, json, ['X-Title', 't'])[1]).toMatch(/^message is required: .*Alertmanager/);
  });

  it('is taken like any other JSON when headers say title and message', () => {
    expect(read(webhook, json, ['X-Title', 't'], ['X-Message', 'm'])).toEqual({ title: 't', message: 'm' });
  });
});

describe('a text body', () => {
  it('is the message as a whole; the rest comes from headers', () => {
    expect(read(' line 1\n\nline 2 ', plain, ['X-Title', 'a'], ['X-Message', 'not this'])).toEqual({
      title: 'a',
      message: ' line 1\n\nline 2 ',
    });
  });

  it('may begin with one BOM, which is not part of it', () => {
    expect(read('\ufeffa', plain)).toEqual({ message: 'a' });
  });
});

describe('UTF-8', () => {
  it.each(
    [[0xff], [0xc3], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82]].map(
      (bytes) => [bytes],
    ),
  )('ill-formed bytes %j are refused in every kind of body', (bytes) => {
    const bad = Buffer.from(bytes);
    for (const type of [json, form, plain]) {
      expect(refusal(Buffer.concat([Buffer.from('{"title":"'), bad, Buffer.from('"}')]), type)[0]).toBe(
        'bad-request',
      );
      expect(refusal(Buffer.concat([Buffer.from('title='), bad]), type)[0]).toBe('bad-request');
    }
  });
});

describe('headers', () => {
  it('stand for every field, whatever their case', () => {
    const pairs: Headers = [
      ['X-Title', 't'],
      ['x-message', 'm'],
      ['X-LEVEL', 'error'],
      ['X-Ttl', '5000'],
      ['X-IP', '10.0.0.5'],
      ['X-Host', 'h'],
      ['X-Key', 'k'],
      ['X-URL', 'http://u'],
    ];
    expect(read('', ...pairs)).toEqual({
      title: 't',
      message: 'm',
      level: 'error',
      ttl: 5000,
      ip: '10.0.0.5',
      host: 'h',
      key: 'k',
      url: 'http://u',
    });
  });

  it('give way, field by field, to JSON that is not null, even if it is empty or wrong', () => {
    const headers: Headers = [
      json,
      ['X-Title', 'header'],
      ['X-Message', 'header'],
      ['X-TTL', 'nonsense'],
      ['X-Host', 'header'],
    ];
    expect(read('{"title":"","message":null,"ttl":7}', ...headers)).toEqual({
      title: '',
      message: 'header',
      ttl: 7,
      host: 'header',
    });
  });

  it('are raw UTF-8 or encoded words', () => {
    expect(
      read('', ['X-Title', 'Žluťoučký 🔔'], ['X-Message', '=?utf-8?B?8J+UlA==?= =?iso-8859-1?Q?=E9?=!']),
    ).toEqual({
      title: 'Žluťoučký 🔔',
      message: '🔔é!',
    });
  });

  it('that are no UTF-8 are Latin-1, with encoded words too', () => {
    const title = Buffer.from('Größe =?utf-8?Q?=E2=82=AC?=', 'latin1');
    expect(read('', ['X-Title', title], ['X-Message', 'Größe'])).toEqual({
      title: 'Größe €',
      message: 'Größe',
    });
  });

  it('a field given twice is refused, even with the same value, even when JSON has it', () => {
    expect(refusal('', ['X-Title', 'a'], ['x-title', 'a'])).toEqual([
      'bad-request',
      'the header x-title is given twice',
    ]);
    expect(refusal('{"title":"a"}', json, ['X-Title', 'a'], ['X-Title', 'a'])[0]).toBe('bad-request');
  });

  it.each(['5s', '-1', '+5', '5.0', '0x10', '1e3', '', '１２'])(
    'ttl is decimal digits only: %j is no number',
    (ttl) => {
      expect(read('', ['X-TTL', ttl]).ttl).toBeNaN();
    },
  );

  it('that only look like fields are ignored', () => {
    expect(
      read(
        '',
        ['X-Titles', 'a'],
        ['XTitle', 'b'],
        ['X-__proto__', 'c'],
        ['X-constructor', 'd'],
        ['Y-Title', 'e'],
      ),
    ).toEqual({});
  });
});

const decode = (value: string) => decodeEncodedWords(value, 'X-Title');

describe('RFC 2047 encoded words', () => {
  it.each([
    ['=?utf-8?B?8J+UlCBCYWNrdXA=?=', '🔔 Backup'],
    ['=?UTF-8?b?w6k=?=', 'é'],
    ['=?utf-8?Q?caf=C3=A9_au_lait?=', 'café au lait'],
    ['=?utf-8?q?caf=c3=a9?=', 'café'],
    ['=?iso-8859-1?Q?caf=E9?=', 'café'],
    ['=?ISO-8859-1?B?6Q==?=', 'é'],
    ['=?utf-8*en?Q?a=20b?=', 'a b'],
    ['=?utf-8?Q??=', ''],
    ['before =?utf-8?Q?mid?= after', 'before mid after'],
  ])('%s is %s', (value, text) => {
    expect(decode(value)).toBe(text);
  });

  it('white space between two of them is dropped, other white space is kept', () => {
    expect(decode('=?utf-8?Q?a?= =?utf-8?Q?b?= \t=?utf-8?B?Yw==?= d')).toBe('abc d');
    expect(decode('=?utf-8?Q?a?= x =?utf-8?Q?b?=')).toBe('a x b');
  });

  it('white space behind text that is no encoded word is kept', () => {
    expect(decode('really?= =?utf-8?Q?b?=')).toBe('really?= b');
  });

  it.each(['=?', '=?utf-8?', '=?utf-8?X?abc?=', '=?utf-8?Q?a b?=', 'a =?= b', '=?utf-8?Q?a', 'x=?y?z'])(
    'leaves %j as it is',
    (value) => {
      expect(decode(value)).toBe(value);
    },
  );

  it.each(['=?klingon?Q?a?=', '=?utf-8?Q?=FF?=', '=?utf-8?B?/w==?=', '=?utf-8?Q?=ED=A0=80?='])(
    'refuses %s, naming the header',
    (value) => {
      expect(() => decode(value)).toThrow(
        expect.objectContaining({ code: 'bad-request', message: expect.stringContaining('X-Title') }),
      );
    },
  );

  it('has one error for an unknown charset and another for invalid bytes', () => {
    expect(() => decode('=?klingon?Q?a?=')).toThrow(
      /^the header X-Title has an encoded word in the unknown charset klingon: write it in utf-8$/,
    );
    expect(() => decode('=?utf-8?Q?=FF?=')).toThrow(
      /^the header X-Title has an encoded word whose bytes are not valid utf-8$/,
    );
  });

  it('brings any text back', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }).filter((text) => !text.startsWith('\ufeff')),
        (text) => {
          expect(decode(`=?utf-8?B?${Buffer.from(text).toString('base64')}?=`)).toBe(text);
          const quoted = [...Buffer.from(text)]
            .map((byte) => `=${byte.toString(16).padStart(2, '0').toUpperCase()}`)
            .join('');
          expect(decode(`=?utf-8?Q?${quoted}?=`)).toBe(text);
        },
      ),
    );
  });

  it('reads 64 KiB of half-begun words in linear time', () => {
    const tookMs = processorMs(() => {
      for (const piece of ['=?a?b?', '?= ', '=?utf-8?Q?', '?=\t =?', '=? ', '=?a']) {
        const value = piece.repeat(Math.floor(65_536 / piece.length));
        try {
          decode(value);
        } catch (error) {
          expect(error).toMatchObject({ code: 'bad-request' });
        }
      }
    });
    expect(tookMs).toBeLessThan(1_000);
  });
});

describe('labels', () => {
  const header = (value: string) => ['X-Labels', value] as const;
  const labels = { env: 'prod', site: 'plant 2', more: 'a=b', empty: '' };
  const text = ' env=prod,site = plant 2 , ,more=a=b,empty=';

  it('are an object in JSON, and pairs in a header, a form and a URL', () => {
    expect(read(JSON.stringify({ labels }), json)).toEqual({ labels });
    expect(read('', header(text))).toEqual({ labels });
    expect(read(`labels=${encodeURIComponent(text)}`, form)).toEqual({ labels });
    const url = `/?${new URLSearchParams({ labels: text })}`;
    expect(readQueryFields({ url, headers: {}, rawHeaders: [] } as never).fields).toEqual({ labels });
  });

  it('have an own property for each name', () => {
    const { labels: given } = read('', header('__proto__=a, constructor=b'));
    expect(Object.entries(given as object)).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ]);
  });

  it('are decoded like every header', () => {
    expect(read('', header('=?utf-8?Q?site=3DM=C3=BCnchen?='))).toEqual({ labels: { site: 'München' } });
    expect(read('', header('site=München'))).toEqual({ labels: { site: 'München' } });
  });

  it('of JSON are used instead of those of the header; null is absent', () => {
    expect(read('{"labels":{"a":"1"}}', json, header('b=2'))).toEqual({ labels: { a: '1' } });
    expect(read('{"labels":{}}', json, header('b=2'))).toEqual({ labels: {} });
    expect(read('{"labels":null}', json, header('b=2'))).toMatchObject({ labels: { b: '2' } });
  });

  it('that are no pairs, or have a name twice, stay a text, which the check refuses', () => {
    for (const wrong of ['env', 'env=a, site', 'env=a,env=b']) {
      expect(read('', header(wrong))).toEqual({ labels: wrong });
      expect(() => checkFields({ title: 't', message: 'm', ...read('', header(wrong)) })).toThrow(
        'labels must be an object of texts',
      );
    }
    expect(refusal('', header('a=1'), header('b=2'))).toEqual([
      'bad-request',
      'the header X-Labels is given twice',
    ]);
  });
});
