import { expect, it } from 'vitest';
import { parseStrictly } from '#test/support/ntfy-client.ts';
import { type Buttons, SharedLines } from './lines.ts';

const frame = {
  position: 7,
  alarm: 'n1',
  bytes: Buffer.from(
    '"id":"b00000000007","time":1,"event":"message","message":"m","title":"a \\"quoted\\" ü","priority":4}\n',
  ),
};
const buttonsOf = (
  start: string,
  { shown, language }: Pick<Buttons, 'shown' | 'language'> = { shown: ['acknowledge'], language: 'en' },
): Buttons => ({
  ...{ shown, language, name: `${language} ${shown}`, start: Buffer.from(start) },
  end: ({ notification, position, button }) => `.${notification}.${position}.${button}`,
});

it('streams of one encoding share parts of a line, and each has its own topic, links, language and priority', () => {
  const lines = new SharedLines();
  const read = (topic: string, isSilent: boolean, buttons?: Buttons) => {
    const line = lines.lineOf(frame, Buffer.from(`{"topic":"${topic}",`), isSilent, buttons).toString();
    expect(line.endsWith('}\n')).toBe(true);
    const { title, priority, actions = [], ...rest } = parseStrictly(line.trimEnd());
    expect([rest.topic, title]).toEqual([topic, 'a "quoted" ü']);
    return [priority, ...actions.map(({ label, url }) => `${label} ${url}`)];
  };
  const both = { shown: ['acknowledge', 'shelve'], language: 'de' } as const;
  // Twice, as the second time the parts are there.
  for (let i = 0; i < 2; i++) {
    expect(read('a', false, buttonsOf('https://a'))).toEqual([4, 'Acknowledge https://a.n1.7.acknowledge']);
    expect(read('b', false, buttonsOf('https://b'))).toEqual([4, 'Acknowledge https://b.n1.7.acknowledge']);
    expect(read('c', true, buttonsOf('https://c', both))).toEqual([
      2,
      'Quittieren https://c.n1.7.acknowledge',
      '1 h zurückstellen https://c.n1.7.shelve',
    ]);
    expect(read('d', true)).toEqual([2]);
    expect(read('e', false)).toEqual([4]);
  }
});
