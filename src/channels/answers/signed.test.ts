import { expect, test } from 'vitest';
import { telegramPress } from '#test/support/answering-systems.ts';
import { answerData } from '../buttons.ts';
import { readSystemAnswer } from './signed.ts';

const secret = 'a-secret-of-some-length';
const id = '0191d3c0-0000-7000-8000-000000000000';

test('a button on Telegram counts in the chat of its channel, also if its name is written in other letters', () => {
  const inChat = (chatName: string) => {
    const data = answerData('acknowledge', id, id);
    const { headers, body } = telegramPress(secret, data, { chat: -100, chatName });
    const sent = { headers, body: Buffer.from(body), now: 0, settings: { chat: '@OnCall' } };
    return readSystemAnswer('telegram', { webhookSecret: secret }, sent)?.answer?.alarm;
  };
  expect([inChat('oncall'), inChat('OnCall'), inChat('others'), inChat('')]).toEqual([
    id,
    id,
    undefined,
    undefined,
  ]);
});
