/** Values that have broken services before: texts, JSON that no library writes, and search strings. */
import type { Dice } from './dice.ts';

/** JSON text that goes out as it stands. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export const hostileTexts: readonly string[] = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\udfff\ud800',
  '\ufeff',
  '\u202eevil\u202c',
  '\u2066\u2067\u2068\u2069',
  '\u200b\u200d\u2060',
  'Z\u0351\u0352\u0353a\u0354\u0355l\u0356g\u0357o',
  '👩‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿',
  '\u001b[2J\u001b]0;owned\u0007',
  '\u009b31m',
  'line\r\nSet-Cookie: a=b',
  'line\nlevel=error msg="forged"',
  '\u2028\u2029',
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '{{7*7}}$' + '{7*7}<%= 7*7 %>',
  '=HYPERLINK("http://evil/","x")',
  "@SUM(1+9)*cmd|' /C calc'!A0",
  "'; DROP TABLE notifications; --",
  "' OR '1'='1",
  '1) UNION SELECT hash FROM credentials--',
  '%s%n%x%p',
  '../../../../etc/passwd',
  '..\\..\\windows\\win.ini',
  'C:\\con\\con',
  '$(id)`id`',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'null',
  'undefined',
  'NaN',
  'true',
  '-0',
  '1e400',
  '9007199254740993',
  '0x1f',
  '٣',
  '1_000',
  '2026-13-45T99:99:99Z',
  '0000-00-00',
  '+275760-09-13T00:00:00.001Z',
  '(a+)+$',
  '\\pL{112}\\d',
  '(?=x)\\1',
  '[',
  '*'.repeat(255),
  '?*'.repeat(120),
  '999.999.999.999',
  '10.0.0.0/33',
  '::/0',
  '0.0.0.0-255.255.255.255',
  'fe80::1%eth0',
  '::ffff:10.0.0.1',
  'javascript:alert(1)',
  'http://user:pass@169.254.169.254/',
  'http://[::1',
  'bfy_0000000000_0000000000000000000000000000000000_000000',
];

const rawTokens = [
  '1e400',
  '-1e400',
  '1e-400',
  '-0',
  '0.1',
  '9007199254740993',
  '1'.repeat(400),
  '{"__proto__":{"admin":true}}',
  '{"__proto__":null}',
  '{"constructor":{"prototype":{"admin":true}}}',
  '{"a":1,"a":2}',
  '{"toString":1,"valueOf":2,"toJSON":3,"then":4}',
  '{"":""}',
  '{"length":1e9,"0":"x"}',
  '[[[[[[[[[[]]]]]]]]]]',
  '"\\ud800"',
  '"\\u0000"',
  'null',
  'true',
  'false',
  '[]',
  '{}',
  // No JSON at all.
  'undefined',
  'NaN',
  "'single'",
  '01',
  '1.',
  '.5',
  '+1',
  '"open',
  '{"a":1,}',
  '[1,]',
  '/* note */ 1',
  '',
];

/** Any value at all, of the wrong kind more often than not. */
export function hostileValue(dice: Dice): unknown {
  const roll = dice.below(100);
  if (roll < 45) return dice.pick(hostileTexts);
  if (roll < 80) return new RawJson(dice.pick(rawTokens));
  if (roll < 86) return dice.pick([-1, 0, 1, 2 ** 31, 2 ** 53, -(2 ** 63), 0.5]);
  if (roll < 90) return dice.pick(hostileTexts).repeat(1 + dice.below(300));
  if (roll < 94) return 'x'.repeat(dice.pick([101, 251, 256, 2_049, 16_385, 70_000]));
  if (roll < 97) return Array.from({ length: 1 + dice.below(1_100) }, () => dice.pick(hostileTexts));
  const depth = 10 + dice.below(5_000);
  return new RawJson(
    dice.chance(0.5)
      ? '['.repeat(depth) + ']'.repeat(depth)
      : `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`,
  );
}

const searchPieces = [
  'disk',
  '"disk full"',
  'OR',
  'AND',
  'NOT',
  '-',
  '--',
  '(',
  ')',
  '((((',
  '"',
  "'",
  '*',
  'a*',
  '*a',
  ':',
  '::',
  ',',
  '>=',
  '<',
  'ip:10.0.0.0/8',
  'ip:10.0.0.1-10.0.0.0',
  'ip:::/0',
  'ip:999',
  'source:10.0.0.0/33',
  'host:db-*',
  'host:*',
  'host:***?',
  'level:error,critical',
  'level:>=warning',
  'level:>',
  'level:,',
  'token:"ci"',
  'panel:lobby',
  'rule:"x"',
  'key:é',
  'is:muted',
  'is:live',
  'is:unseen',
  'is:expired',
  'is:nothing',
  'since:2h',
  'since:-1h',
  'since:99999999999999999h',
  'after:2026-11-01',
  'before:2026-11-02T10:00Z',
  'before:9999-99-99',
  'nosuch:x',
  '__proto__:x',
  'constructor:x',
  'NEAR(a b)',
  'title:x',
  '{title}:x',
  '^a',
  'a+b',
  '\\',
  '%',
  '_',
  '\u0000',
  '\ud800',
  '\u202e',
];

/** A search that may be none: words of the query language in any order, with hostile texts in between. */
export function hostileSearch(dice: Dice): string {
  const pieces = Array.from({ length: 1 + dice.below(dice.chance(0.05) ? 120 : 8) }, () =>
    dice.chance(0.8) ? dice.pick(searchPieces) : dice.pick(hostileTexts),
  );
  const text = pieces.join(dice.pick([' ', ' ', '', '\t']));
  return dice.chance(0.03) ? text.repeat(200).slice(0, 5_000) : text;
}
