import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SyslogFrames } from './syslog-frames.ts';

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
