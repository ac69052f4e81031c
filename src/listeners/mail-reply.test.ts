import { describe, expect, test } from 'vitest';
import { readReply, readText } from './mail-reply.ts';

test.each([
  ['', 'acknowledge', null],
  ['ack', 'acknowledge', null],
  ['ACK: on my way', 'acknowledge', 'on my way'],
  ['Quittiert, bin unterwegs', 'acknowledge', 'bin unterwegs'],
  ['I am on my way.', 'acknowledge', 'I am on my way.'],
  ['Acknowledgement follows', 'acknowledge', 'Acknowledgement follows'],
  ['constructor', 'acknowledge', 'constructor'],
  ['Shelve', 'shelve', null],
  ['zurückstellen – kein Ersatzteil da', 'shelve', 'kein Ersatzteil da'],
  ['clear\nreplaced the disk', 'clear', 'replaced the disk'],
  ['Erledigt.', 'clear', null],
  ['clear all caches first, I am on it', 'acknowledge', 'clear all caches first, I am on it'],
  ['clear-text passwords in the log', 'acknowledge', 'clear-text passwords in the log'],
  [
    'Done\n\nOn Mon, 30 Nov 2026 at 10:00, Belfry <belfry@example.org> wrote:\n> clear',
    'acknowledge',
    'Done',
  ],
  ['On Mon, 30 Nov 2026 at 10:00, Belfry\n<belfry@example.org> wrote:\n> Disk full\n\nclear', 'clear', null],
  ['On Mon, 30 Nov 2026 at 10:00, Belfry wrote:\n\nclear the cache of db1', 'acknowledge', null],
  ['On Mon, 30 Nov 2026 at 10:00, Belfry\n<b@example.org> wrote:\n\nclear it', 'acknowledge', null],
  ['Ja\n\nAm 30.11.26 um 10:00 schrieb Belfry:\n> Disk full', 'acknowledge', 'Ja'],
  ['ok\n\n________________________________\nVon: Belfry\nGesendet: Montag\nclear', 'acknowledge', 'ok'],
  ['ok\n-----Original Message-----\nclear', 'acknowledge', 'ok'],
  ['shelve\n\nSent from my iPhone', 'shelve', null],
  ['clear\n-- \nAnn\nExample Ltd.', 'clear', null],
])('the text of a reply is read without what it quotes: %j', (text, kind, note) => {
  expect(readText(text)).toEqual({ kind, note });
  expect(readText(text.replaceAll('\n', '\r\n'))).toEqual({ kind, note });
});

test('a text of many lines is read in bounded time', () => {
  const began = performance.now();
  readText(`${'On '.repeat(400)}\n`.repeat(2_000));
  readText('on a wrote '.repeat(100_000));
  expect(performance.now() - began).toBeLessThan(2_000);
});

describe('replies of programs', () => {
  const mail = (header: string) =>
    readReply(Buffer.from(`From: Ann Example <ann@example.org>\r\n${header}\r\n\r\nclear\r\n`));
  test.each([
    'Auto-Submitted: auto-replied',
    'Auto-Submitted: auto-generated (rejected)',
    'Precedence: bulk',
    'X-Autoreply: yes',
    'Subject: Automatic reply: [error] Disk full',
    'Subject: Abwesenheitsnotiz: [error] Disk full',
    'Subject: =?utf-8?Q?Automatische_Antwort:_x?=',
    'Content-Type: multipart/report; boundary=x',
  ])('do nothing: %s', async (header) => {
    expect(await mail(header)).toBeNull();
  });

  test('a person has a name, or an address', async () => {
    expect(await mail('Auto-Submitted: no')).toEqual({ from: 'Ann Example', kind: 'clear', note: null });
    const plain = await readReply(Buffer.from('From: ann@example.org\r\n\r\nack'));
    expect(plain?.from).toBe('ann@example.org');
  });
});
