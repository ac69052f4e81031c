import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { labelEntries } from '#contract/history/labels.ts';
import { fieldsOf, parseLevelMap } from '#integrations/format.ts';
import { itemOfSyslog, parseSyslog, SyslogFrames } from './syslog-message.ts';

const parse = (text: string | Buffer) => parseSyslog(Buffer.from(text));

describe('a message of RFC 5424', () => {
  it.each([
    [
      `<34>1 2003-10-11T22:14:15.003Z mymachine.example.com su - ID47 - \ufeff'su root' failed for lonvick on /dev/pts/8`,
      {
        severity: 'crit',
        host: 'mymachine.example.com',
        program: 'su',
        text: "'su root' failed for lonvick on /dev/pts/8",
        labels: [],
      },
    ],
    [
      "<165>1 2003-08-24T05:14:15.000003-07:00 192.0.2.1 myproc 8710 - - %% It's time to make the do-nuts.",
      {
        ...{ severity: 'notice', host: '192.0.2.1', program: 'myproc' },
        ...{ text: "%% It's time to make the do-nuts.", labels: [] },
      },
    ],
    [
      '<165>1 2003-10-11T22:14:15.003Z db-01 evntslog - ID47 [exampleSDID@32473 iut="3" eventSource="A \\"b\\" \\]"][b@1 x="y"] An event',
      {
        ...{ severity: 'notice', host: 'db-01', program: 'evntslog', text: 'An event' },
        labels: [
          ['iut', '3'],
          ['eventSource', 'A "b" ]'],
          ['x', 'y'],
        ],
      },
    ],
    [
      '<11>1 - - - - - - only a text',
      { severity: 'err', host: undefined, program: undefined, text: 'only a text', labels: [] },
    ],
    [
      '<163>1 2026-11-27T14:00:00.000Z chassis1 craftd - CHASSISD_PSU_FAIL [junos@2636.1.1.1.2.18 error-message="PSU 1 failed"]',
      {
        severity: 'err',
        host: 'chassis1',
        program: 'craftd',
        text: 'CHASSISD_PSU_FAIL error-message="PSU 1 failed"',
        labels: [['error-message', 'PSU 1 failed']],
      },
    ],
    [
      '<28>1 - r1 rpd 7 BGP_DOWN [timeQuality tzKnown="1"][a@1 peer="10.0.0.1" why="said \\"no\\""][b@1 x="y"] ',
      {
        severity: 'warning',
        host: 'r1',
        program: 'rpd',
        text: 'BGP_DOWN peer="10.0.0.1" why="said "no"" x="y"',
        labels: [
          ['peer', '10.0.0.1'],
          ['why', 'said "no"'],
          ['x', 'y'],
        ],
      },
    ],
    [
      '<28>1 - r1 rpd - BGP_DOWN -',
      { severity: 'warning', host: 'r1', program: 'rpd', text: 'BGP_DOWN', labels: [] },
    ],
  ])('is read: %s', (text, expected) => {
    expect(parse(text)).toEqual(expected);
  });

  it('without a text is none', () => {
    for (const text of [
      '<34>1 - h p - - -',
      '<34>1 - h p - - [a]',
      '<34>1 - h p - - [timeQuality tzKnown="1"]',
      '<34>1 - h p - - ',
      '',
      '\n',
      '<34>',
    ])
      expect([text, parse(text)]).toEqual([text, undefined]);
  });
});

describe('a message of RFC 3164', () => {
  it.each([
    [
      "<34>Oct 11 22:14:15 mymachine su: 'su root' failed",
      { severity: 'crit', host: 'mymachine', program: 'su', text: "'su root' failed" },
    ],
    [
      '<13>Feb  5 17:32:18 10.0.0.99 Use the BFG!',
      { severity: 'notice', host: '10.0.0.99', program: undefined, text: 'Use the BFG!' },
    ],
    [
      '<30>Oct  9 22:33:20 hlfedora auditd[1787]: The audit daemon is exiting.',
      { severity: 'info', host: 'hlfedora', program: 'auditd', text: 'The audit daemon is exiting.' },
    ],
    [
      '<11>2026-11-23T00:00:00+01:00 nas kernel: oops',
      { severity: 'err', host: 'nas', program: 'kernel', text: 'oops' },
    ],
    [
      '<12>Nov 23 00:00:00 sshd[7]: no host',
      { severity: 'warning', host: undefined, program: 'sshd', text: 'no host' },
    ],
    [
      '<12>Nov 27 14:00:00 last message repeated 2 times',
      { severity: 'warning', host: undefined, program: undefined, text: 'last message repeated 2 times' },
    ],
    [
      '<12>Nov 3 14:00:00 nas smartd[7]: unpadded',
      { severity: 'warning', host: 'nas', program: 'smartd', text: 'unpadded' },
    ],
    [
      '<12>.Nov 27 14:00:00.123 sw1 stp: no clock',
      { severity: 'warning', host: 'sw1', program: 'stp', text: 'no clock' },
    ],
    [
      '<12>17: no program',
      { severity: 'warning', host: undefined, program: undefined, text: '17: no program' },
    ],
    ['<12>backup: no time', { severity: 'warning', host: undefined, program: 'backup', text: 'no time' }],
    ['just a text\n', { severity: 'notice', host: undefined, program: undefined, text: 'just a text' }],
    ['<999>too high', { severity: 'notice', host: undefined, program: undefined, text: 'too high' }],
  ])('is read: %s', (text, expected) => {
    expect(parse(text)).toEqual(expected);
  });
});

describe('a message of Cisco has its mnemonic as the program, and neither counters nor a time', () => {
  it.each([
    ['2043: *Mar  1 18:46:11: %SYS-5-CONFIG_I: Configured from console', undefined, 'SYS-5-CONFIG_I'],
    ['45: 000045: sw1: Nov 27 10:11:12.345: %LINK-3-UPDOWN: Interface Gi0/1', 'sw1', 'LINK-3-UPDOWN'],
    ['45: .Nov 27 2026 10:11:12.345 CEST: %LINK-3-UPDOWN: Interface Gi0/1', undefined, 'LINK-3-UPDOWN'],
    [': 2026 Nov 27 10:11:12 UTC: %ETHPORT-3-IF_DOWN: Ethernet1/1 is down', undefined, 'ETHPORT-3-IF_DOWN'],
    ['Nov 27 2026 10:00:01 fw01 : %ASA-5-111008: User enabled', 'fw01', 'ASA-5-111008'],
    ['Nov 27 2026 10:00:01: %ASA-6-302013: Built', undefined, 'ASA-6-302013'],
    [
      '179767: fakhost: Nov 23 22:23:27.833 NewYork: %SW_MATM-4-MACFLAP_NOTIF: Host bd60',
      'fakhost',
      'SW_MATM-4-MACFLAP_NOTIF',
    ],
    ['83: *Feb 28 00:20:10: %SYS-5-CONFIG_I: Configured from console', undefined, 'SYS-5-CONFIG_I'],
    ['83: 10.0.0.1: *Feb 3 00:20:10 UTC: %SYS-5-CONFIG_I: Configured', '10.0.0.1', 'SYS-5-CONFIG_I'],
    ['83: 2001:db8::1: .Feb 13 00:20:10: %SYS-5-CONFIG_I: Configured', '2001:db8::1', 'SYS-5-CONFIG_I'],
    ['Nov 27 10:11:12.345 NewYork: %LINK-3-UPDOWN: Interface', undefined, 'LINK-3-UPDOWN'],
    ['*Nov 27 10:11:12.345 NewYork: %LINK-3-UPDOWN: Interface', undefined, 'LINK-3-UPDOWN'],
    ['Nov 27 10:11:12 10.1.1.1 45: sw1: *Nov 27 10:11:12: %LINK-3-UPDOWN: Interface', 'sw1', 'LINK-3-UPDOWN'],
    ['Nov 27 2026 14:00:00 asa-fw : %ASA-4-106023: Deny tcp', 'asa-fw', 'ASA-4-106023'],
    [':Nov 27 14:00:00 CEST: %ASA-session-6-302013: Built', undefined, 'ASA-session-6-302013'],
    [
      '12: RP/0/RSP0/CPU0:Nov 27 10:11:12.345 UTC: config[65710]: %MGBL-SYS-5-CONFIG_I : Configured',
      undefined,
      'MGBL-SYS-5-CONFIG_I',
    ],
    ['%FTD-1-105005: Lost Failover communications', undefined, 'FTD-1-105005'],
  ])('%s', (text, host, program) => {
    expect(parse(`<187>${text}`)).toEqual({
      severity: 'err',
      host,
      program,
      text: text.replace(/^.*%\S+ ?: /, ''),
    });
  });

  it('or no program, where it has no mnemonic', () => {
    expect(parse('<187>45: sw1: Nov 27 10:11:12: Interface down')).toMatchObject({
      host: 'sw1',
      program: undefined,
      text: 'Interface down',
    });
  });

  it('only where such a head is', () => {
    const text = 'disk at 97 %: %LINK-3-UPDOWN: x';
    expect(parse(`<11>${text}`)).toMatchObject({ program: undefined, text });
  });
});

it('has the line ends and tabs that rsyslog escapes', () => {
  expect(parse('<11>1 - h p - - - Exception: x#012#011at a.B(C.java:7)#012#011at d')?.text).toBe(
    'Exception: x\n\tat a.B(C.java:7)\n\tat d',
  );
  expect(parse('<11>p: PR#0123 in color:#0112ff')?.text).toBe('PR#0123 in color:#0112ff');
  expect(parse('<11>p: ticket #012 is open')?.text).toBe('ticket #012 is open');
});

it('has no colours that rsyslog escapes', () => {
  expect(parse('<11>p: #033[1;31mfailed#033[0m')?.text).toBe('failed');
});

it('becomes a notification of its host, or else of where it came from', () => {
  const message = { severity: 'alert', host: 'db-01', program: 'raid', text: 'disk 3 failed\nmore' } as const;
  expect(itemOfSyslog(message, '10.0.0.9')).toEqual({
    title: 'raid: disk 3 failed',
    message: 'disk 3 failed\nmore',
    severity: 'alert',
    level: 'critical',
    source: 'db-01',
  });
  const bare = { severity: 'err', host: undefined, program: undefined, text: 'x' } as const;
  expect(itemOfSyslog(bare, '10.0.0.9')).toMatchObject({ title: 'x', level: 'error', source: '10.0.0.9' });
});

it('has the parameters of its structured data as labels, of equal names the first', () => {
  const labelsIn = (data: string) => {
    const message = parse(`<11>1 - h p - - ${data} text`);
    return labelEntries(message ? fieldsOf(itemOfSyslog(message, ''), parseLevelMap([])).labels : null);
  };
  expect(labelsIn('[a@1 env="prod" empty=""][b@1 env="test" __proto__="p" 5@x="\\\\"]')).toEqual([
    ['_5_x', '\\'],
    ['__proto__', 'p'],
    ['empty', ''],
    ['env', 'prod'],
  ]);
  expect(labelsIn('[timeQuality tzKnown="1"][meta sequenceId="7"][origin ip="10.0.0.1"]')).toEqual([]);
  expect(labelsIn(`[a@1${' x="y"'.repeat(5_000)} env="prod"]`)).toHaveLength(2);
});

it('is read from any bytes, and from texts that are no UTF-8', () => {
  expect(parse(Buffer.from('<11>caf\xe9', 'latin1'))).toMatchObject({ text: 'café' });
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.string(), (bytes, text) => {
      parse(Buffer.from(bytes));
      parse(`<34>1 - h p - - [${text}`);
      parse(`<34>Oct 11 22:14:15 ${text}`);
    }),
    { numRuns: 200 },
  );
});

it('takes time in proportion to its length', () => {
  for (const text of [
    `<34>1 - h p - - ${'[a b="c"]'.repeat(7_000)}x`,
    `<34>1 - h p - - [a b="${'\\"'.repeat(30_000)}`,
    `<34>${'a '.repeat(30_000)}`,
    `<34>${'\r'.repeat(60_000)}x`,
    `<34>1: ${'a:'.repeat(30_000)}`,
    `<34>1: ${'a-'.repeat(30_000)}: %${'A-'.repeat(30_000)}`,
  ])
    parse(text);
});

/** Pushed byte by byte, and at once: both must give the same. */
function split(text: string, maxBytes = 100): { texts: string[]; isBroken: boolean } {
  const read = (chunks: readonly Buffer[]) => {
    const stream = new SyslogFrames(maxBytes);
    const texts: string[] = [];
    for (const chunk of chunks) {
      const { frames, isBroken } = stream.push(chunk);
      texts.push(...frames.map(String));
      if (isBroken) return { texts, isBroken };
    }
    const { frames, isBroken } = stream.end();
    return { texts: [...texts, ...frames.map(String)], isBroken };
  };
  const bytes = Buffer.from(text);
  const atOnce = read([bytes]);
  expect(read([...bytes].map((byte) => Buffer.of(byte)))).toEqual(atOnce);
  return atOnce;
}
const texts = (text: string) => split(text).texts;

it('splits a stream by line feeds, by zero bytes, or by lengths, also in one stream', () => {
  expect(texts('<1>a\n<2>b\n\n<3>c')).toEqual(['<1>a', '<2>b', '<3>c']);
  expect(texts('<1>a\0<2>b\0')).toEqual(['<1>a', '<2>b']);
  expect(texts('4 <1>a6 <2>\nbc')).toEqual(['<1>a', '<2>\nbc']);
  expect(texts('4 <1>a<2>b\n5 <3>ž')).toEqual(['<1>a', '<2>b', '<3>ž']);
  expect(texts('9 <1>a')).toEqual([]);
});

it('takes a number for a length only where a message follows it', () => {
  expect(texts('404 not found\n<13>next\n')).toEqual(['404 not found', '<13>next']);
  expect(texts('20261123 backup failed\n12\n7 ')).toEqual(['20261123 backup failed', '12', '7 ']);
});

it('ends a stream whose message is too long, however it is sent, and gives what came before', () => {
  for (const text of ['101 <', '99999999 <', `${'x'.repeat(101)}\n`, 'x'.repeat(120)])
    expect(split(`<1>a\n4 <2>b${text}`)).toEqual({ texts: ['<1>a', '<2>b'], isBroken: true });
  expect(split(`${'x'.repeat(100)}\n`)).toMatchObject({ texts: [expect.any(String)], isBroken: false });
});

it('gives what was sent, whatever pieces it comes in', () => {
  const message = fc.string({ minLength: 1, maxLength: 40, unit: 'binary' }).map((text) => `<9>${text}`);
  fc.assert(
    fc.property(fc.array(message, { maxLength: 5 }), fc.array(fc.nat(30)), (messages, cuts) => {
      const bytes = Buffer.concat(messages.map((text) => Buffer.from(`${Buffer.byteLength(text)} ${text}`)));
      const frames = new SyslogFrames(1_000);
      const found: string[] = [];
      let at = 0;
      for (const cut of [...cuts, bytes.length]) {
        found.push(...frames.push(bytes.subarray(at, at + cut)).frames.map(String));
        at += cut;
      }
      found.push(...frames.push(bytes.subarray(at)).frames.map(String));
      expect(found).toEqual(messages);
    }),
    { numRuns: 100 },
  );
});

it('ends with a message that is shorter than its length as broken, and with one without a length as whole', () => {
  const endOf = (text: string) => {
    const frames = new SyslogFrames(100);
    frames.push(Buffer.from(text));
    const { frames: last, isBroken } = frames.end();
    return [last.map(String), isBroken];
  };
  expect(endOf('9 <1>a')).toEqual([[], true]);
  expect(endOf('<1>a')).toEqual([['<1>a'], false]);
  expect(endOf('4 <1>a')).toEqual([[], false]);
});
