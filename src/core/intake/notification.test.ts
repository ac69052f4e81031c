import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { labelEntries } from '#contract/history/labels.ts';
import { AppError } from '../errors.ts';
import { checkFields, type SentFields } from './notification.ts';

const valid: SentFields = { title: 'Backup', message: 'done' };
const checked = (over: SentFields) => checkFields({ ...valid, ...over });

/** The words of the refusal. @throws Error when there is none, or when it is not meant for the caller. */
function refusal(over: SentFields): string {
  try {
    checked(over);
  } catch (error) {
    if (error instanceof AppError && error.code === 'bad-request') return error.message;
    throw error;
  }
  throw new Error(`accepted: ${JSON.stringify(over)}`);
}

describe('title and message', () => {
  it('are required, title before message, in exactly these words', () => {
    for (const title of [undefined, null, '', ' \t\r\n', '\u00a0\u3000']) {
      expect(refusal({ title, message: undefined })).toBe('title is required');
    }
    for (const message of [undefined, null, '', ' \n '])
      expect(refusal({ message })).toBe('message is required');
  });

  it('title is trimmed, and its 250 characters count after that', () => {
    expect(checked({ title: `  ${'x'.repeat(250)}\n` }).title).toBe('x'.repeat(250));
    expect(refusal({ title: 'x'.repeat(251) })).toBe('title must have at most 250 characters, not 251');
  });

  it('message keeps its white space and has at most 16,384 characters', () => {
    expect(checked({ message: ' two\nlines \n' }).message).toBe(' two\nlines \n');
    expect(checked({ message: 'x'.repeat(16_384) }).message).toHaveLength(16_384);
    expect(refusal({ message: 'x'.repeat(16_385) })).toBe(
      'message must have at most 16384 characters, not 16385',
    );
  });

  it('a character outside the first plane counts once', () => {
    expect(checked({ title: '🔔'.repeat(250) }).title).toBe('🔔'.repeat(250));
    expect(refusal({ title: '🔔'.repeat(251) })).toContain('not 251');
    expect(checked({ message: '🔔'.repeat(16_384) }).message).toHaveLength(32_768);
  });

  it('are strings, well-formed, without U+0000', () => {
    for (const value of [1, true, [], {}, ['a']]) {
      expect(refusal({ title: value })).toMatch(/^title must be a string, not an? /);
      expect(refusal({ message: value })).toMatch(/^message must be a string, not an? /);
    }
    for (const name of ['title', 'message', 'level', 'ip', 'host', 'key', 'url'] as const) {
      expect(refusal({ [name]: 'a\u0000b' })).toBe(`${name} must not hold the character U+0000`);
      for (const half of ['\ud800', 'a\udc00b', '\udc00\ud800']) {
        expect(refusal({ [name]: half })).toContain(`${name} must be well-formed Unicode`);
      }
    }
  });
});

describe('level', () => {
  it('is info when absent', () => {
    expect(checked({}).level).toBe('info');
    expect(checked({ level: null }).level).toBe('info');
  });

  it('is trimmed and lower-cased', () => {
    expect(checked({ level: ' \tCritical ' }).level).toBe('critical');
    expect(checked({ level: 'A'.repeat(32) }).level).toBe('a'.repeat(32));
    expect(checked({ level: '0_.-z' }).level).toBe('0_.-z');
  });

  it.each(
    ['', ' ', '-a', '.a', '_a', 'a b', 'a/b', 'ä', 'a\nb', 'x'.repeat(33), 'a,b', '"a"'].map((level) => [
      level,
    ]),
  )('refuses %j', (level) => {
    expect(refusal({ level })).toMatch(/^level must be 1 to 32 of /);
  });

  it('is a string', () => {
    for (const level of [5, true, {}, ['info']])
      expect(refusal({ level })).toMatch(/^level must be a string/);
  });
});

describe('ttl', () => {
  it('is a whole number of milliseconds from 0 to a week', () => {
    expect(checked({}).ttl).toBeNull();
    for (const ttl of [0, 1, 5000, 604_800_000]) expect(checked({ ttl }).ttl).toBe(ttl);
    expect(Object.is(checked({ ttl: -0 }).ttl, 0)).toBe(true);
    for (const ttl of [
      -1,
      604_800_001,
      1.5,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      2 ** 53,
      '5',
      true,
      [],
      {},
    ]) {
      expect(refusal({ ttl })).toMatch(/^ttl must be a whole number of milliseconds from 0 to 604800000/);
    }
  });
});

describe('ip', () => {
  it.each([
    ['10.0.0.5', '10.0.0.5'],
    [' 10.0.0.5 ', '10.0.0.5'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['::', '::'],
    ['::1', '::1'],
    ['::ffff:10.0.0.5', '10.0.0.5'],
    ['fe80:0:0:1::', 'fe80:0:0:1::'],
  ])('keeps %s as %s', (ip, canonical) => {
    expect(checked({ ip }).ip).toBe(canonical);
  });

  it.each(
    [
      '',
      'localhost',
      '10.0.0',
      '10.0.0.256',
      '10.0.0.05',
      '0x7f.0.0.1',
      '2130706433',
      '10.0.0.0/8',
      '10.0.0.1:80',
      '[::1]',
      'fe80::1%eth0',
      '1::2::3',
      ':::',
      '1:2:3:4:5:6:7:8:9',
      10,
    ].map((ip) => [ip]),
  )('refuses %j', (ip) => {
    expect(refusal({ ip })).toMatch(/^ip must be /);
  });
});

describe('host', () => {
  it('is kept as given, case too', () => {
    expect(checked({ host: ' DB-01.Example ' }).host).toBe('DB-01.Example');
    expect(checked({ host: 'x'.repeat(253) }).host).toHaveLength(253);
    expect(checked({ host: 'žluťoučký.example' }).host).toBe('žluťoučký.example');
  });

  it.each(
    ['', ' ', 'a b', 'a\tb', 'a\nb', 'a\u007fb', 'a\u0085b', 'a\u00a0b', 'a\u2028b', 'x'.repeat(254), 5].map(
      (host) => [host],
    ),
  )('refuses %j', (host) => {
    expect(refusal({ host })).toMatch(/^host must /);
  });
});

describe('key and url', () => {
  it('key has 1 to 255 characters', () => {
    expect(checked({ key: 'disk /dev/sda' }).key).toBe('disk /dev/sda');
    expect(checked({ key: '🔑'.repeat(255) }).key).toBe('🔑'.repeat(255));
    for (const key of ['', '  ', 'x'.repeat(256), 7, {}]) expect(refusal({ key })).toMatch(/^key must /);
  });

  it('url is an absolute http or https link', () => {
    for (const url of ['http://a', 'https://example.org/x?y=1#z', 'HTTPS://[::1]:8443/'])
      expect(checked({ url }).url).toBe(url);
    const long = `https://a/${'x'.repeat(2038)}`;
    expect(checked({ url: long }).url).toHaveLength(2048);
    for (const url of [
      '',
      'a',
      '/a',
      '//a/b',
      'http:a',
      'http://',
      'https:///',
      'ftp://a',
      'javascript:alert(1)',
      'data:text/html,x',
      ' javascript:alert(1)',
      'java\nscript://a',
      'http://a b',
      'http://a\nb',
      `${long}x`,
      'http://a\u0001',
      5,
    ]) {
      expect(refusal({ url }), JSON.stringify(url)).toMatch(/^url must be /);
    }
  });
});

describe('any input', () => {
  it('is either refused for one field, named first, or comes back within its bounds', () => {
    const anything = fc.oneof(
      fc.anything(),
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.constant(undefined),
    );
    const text = fc.oneof(
      { weight: 4, arbitrary: fc.string({ minLength: 1 }) },
      { weight: 1, arbitrary: anything },
    );
    const sent = fc.record(
      {
        title: text,
        message: text,
        level: anything,
        ttl: anything,
        ip: anything,
        host: anything,
        key: anything,
        url: anything,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(sent, (fields) => {
        try {
          const { title, ttl, level } = checkFields(fields);
          expect(title.trim()).not.toBe('');
          expect(level).toMatch(/^[a-z0-9][a-z0-9_.-]{0,31}$/);
          expect(ttl === null || (ttl >= 0 && ttl <= 604_800_000)).toBe(true);
        } catch (error) {
          expect(error).toMatchObject({ code: 'bad-request' });
          expect((error as Error).message).toMatch(/^(title|message|level|ttl|ip|host|key|url) /);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('labels', () => {
  const most = Object.fromEntries(Array.from({ length: 32 }, (_, i) => [`l${i}`, '']));
  const named = (name: string) => checked({ labels: JSON.parse(`{${JSON.stringify(name)}: " x "}`) }).labels;

  it('are kept as one text with their names in order, so that equal labels are equal texts', () => {
    expect(checked({ labels: { site: ' plant 2 ', Env: 'prod', empty: '' } }).labels).toBe(
      '{"Env":"prod","empty":"","site":"plant 2"}',
    );
    for (const none of [undefined, null, {}]) expect(checked({ labels: none }).labels).toBeNull();
    expect(checked({ labels: most }).labels).toHaveLength(JSON.stringify(most).length);
    expect(checked({ labels: { a: '🔔'.repeat(255) } }).labels).toContain('🔔'.repeat(255));
  });

  it.each(['__proto__', 'constructor', 'toString', '_', 'a.b-c_D9', 'x'.repeat(63)])(
    'may have the name %s',
    (name) => {
      expect(named(name)).toBe(`{"${name}":"x"}`);
      expect(labelEntries(named(name))).toContainEqual([name, 'x']);
    },
  );

  it.each(['', '9x', '-a', 'a b', 'a=b', 'a,b', 'größe', 'a/b', 'x'.repeat(64)])(
    'cannot have the name %j',
    (name) => {
      expect(refusal({ labels: { [name]: 'x' } })).toBe(
        `labels must have names of 1 to 63 letters, digits, "_", "." and "-", which start with a letter or "_", not ${JSON.stringify(name)}`,
      );
    },
  );

  it('that are wrong are refused with what is right', () => {
    const form =
      'labels must be an object of texts, as in {"env": "prod"}; in a header or form env=prod, site=plant 2, each name once';
    for (const labels of ['env', 7, true, [], ['env=prod']]) expect(refusal({ labels })).toBe(form);
    expect(refusal({ labels: { ...most, more: '' } })).toBe('labels must have at most 32 entries, not 33');
    expect(refusal({ labels: { env: 'x'.repeat(256) } })).toBe(
      'labels.env must have at most 255 characters, not 256',
    );
    expect(refusal({ labels: { Env: 'a', site: 'b', env: 'c' } })).toBe(
      'labels must not have both Env and env: upper and lower case are the same',
    );
    for (const [value, words] of [
      [1, 'a number'],
      [null, 'null'],
      [{}, 'an object'],
      [['a'], 'an array'],
    ] as const)
      expect(refusal({ labels: { env: value } })).toBe(`labels.env must be a string, not ${words}`);
    expect(refusal({ labels: { env: 'a\u0000b' } })).toBe('labels.env must not hold the character U+0000');
    expect(refusal({ labels: { env: '\ud800' } })).toContain('labels.env must be well-formed Unicode');
  });
});
