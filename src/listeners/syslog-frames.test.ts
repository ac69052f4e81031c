import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FrameTooLong, SyslogFrames } from './syslog-frames.ts';

/** Pushed byte by byte, and at once: both must give the same. */
function split(text: string, maxBytes = 100): string[] {
  const bytes = Buffer.from(text);
  const [whole, single] = [new SyslogFrames(maxBytes), new SyslogFrames(maxBytes)];
  const texts = (frames: Buffer[]) => frames.map(String);
  const atOnce = [...texts(whole.push(bytes)), ...texts(whole.end())];
  const inTurn = [...bytes].flatMap((byte) => texts(single.push(Buffer.of(byte))));
  expect([...inTurn, ...texts(single.end())]).toEqual(atOnce);
  return atOnce;
}

it('splits a stream by line feeds, by zero bytes, or by lengths, also in one stream', () => {
  expect(split('<1>a\n<2>b\n\n<3>c')).toEqual(['<1>a', '<2>b', '<3>c']);
  expect(split('<1>a\0<2>b\0')).toEqual(['<1>a', '<2>b']);
  expect(split('4 <1>a6 <2>\nbc')).toEqual(['<1>a', '<2>\nbc']);
  expect(split('4 <1>a<2>b\n5 <3>ž')).toEqual(['<1>a', '<2>b', '<3>ž']);
  expect(split('9 <1>a')).toEqual([]);
});

it('ends a stream whose message is too long, however it is sent', () => {
  for (const text of ['101 x', '99999999 ', `${'x'.repeat(101)}\n`, 'x'.repeat(120)])
    expect(() => split(text)).toThrow(FrameTooLong);
  expect(split(`${'x'.repeat(100)}\n`)).toHaveLength(1);
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
        found.push(...frames.push(bytes.subarray(at, at + cut)).map(String));
        at += cut;
      }
      found.push(...frames.push(bytes.subarray(at)).map(String));
      expect(found).toEqual(messages);
    }),
    { numRuns: 100 },
  );
});
