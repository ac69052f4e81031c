import { expect, it } from 'vitest';
import { read } from '#test/support/integration.ts';
import { slack } from './slack.ts';

it.each([
  ['fields of a block', { blocks: [{ type: 'section', fields: Array(300_000).fill('') }] }],
  ['elements of a block', { blocks: [{ type: 'context', elements: Array(300_000).fill('') }] }],
  ['fields of an attachment', { attachments: [{ fields: Array(300_000).fill('') }] }],
])('takes any number of %s', (_, message) => {
  expect(read(slack, { attachments: [{ text: 'a' }], ...message, text: 'x' })).toHaveLength(1);
});

it('a colour that is the name of a property of objects is no level', () => {
  const attachments = [{ color: 'constructor', text: 'a' }];
  expect(read(slack, { attachments })[0]?.level).toBe('info');
});

it('the text is shown only without blocks, because it is their fallback', () => {
  const blocks = [{ type: 'section', text: { type: 'mrkdwn', text: 'Deployed *shop* 1.4.2' } }];
  expect(read(slack, { text: 'Deployed shop 1.4.2', blocks })[0]?.message).toBe('Deployed *shop* 1.4.2');
  expect(read(slack, { text: 'Deployed shop 1.4.2', blocks: [] })[0]?.message).toBe('Deployed shop 1.4.2');
  expect(read(slack, { text: 'shown', blocks: [{ type: 'divider' }] })[0]?.message).toBe('shown');
});

it.each([
  ['#D63232', 'error'],
  ['e01e5a', 'error'],
  ['#E97659', 'error'],
  ['#FFA500', 'warning'],
  ['#ffff00', 'warning'],
  ['#36a64f', 'success'],
  ['#2EB886', 'success'],
  ['#439FE0', 'info'],
  ['#9b59b6', 'info'],
  ['#cccccc', 'info'],
  ['#fff', 'info'],
  ['good', 'success'],
])('the colour %s is %s', (color, level) => {
  expect(read(slack, { attachments: [{ color, text: 'a' }] })[0]?.level).toBe(level);
});

it('the level of a colour can be mapped', () => {
  const query = 'level=%23439fe0:error';
  expect(read(slack, { attachments: [{ color: '#439FE0', text: 'a' }] }, { query })[0]?.level).toBe('error');
});

it('the text of rich text, lists and tables is read', () => {
  const text = (text: string) => ({ type: 'text', text });
  const section = (...elements: object[]) => ({ type: 'rich_text_section', elements });
  const blocks = [
    { type: 'header', text: { type: 'plain_text', text: 'Deploy' } },
    {
      type: 'rich_text',
      elements: [
        section(
          text('shop'),
          text(' '),
          { type: 'link', url: 'https://a.b/', text: 'failed' },
          text(': exit code 1'),
        ),
        { type: 'rich_text_list', elements: [section(text('one')), section(text('two'))] },
        { type: 'rich_text_preformatted', elements: [text('log line')] },
      ],
    },
    { type: 'table', rows: [[{ type: 'raw_text', text: 'a' }, section(text('b'))], [text('c')]] },
    { type: 'markdown', text: '**bold**' },
    { type: 'actions', elements: [{ type: 'button', text: { type: 'plain_text', text: 'Open' } }] },
  ];
  const message =
    'Deploy\n\nshop failed (https://a.b/): exit code 1\n\none\ntwo\n\nlog line\n\na b\nc\n\n**bold**';
  expect(read(slack, { text: 'fallback', blocks })).toMatchObject([{ title: 'Deploy', message }]);
  expect(read(slack, { attachments: [{ blocks }] })).toMatchObject([{ message }]);
});

it('beside a headline alone the text is read', () => {
  const blocks = [{ type: 'header', text: { type: 'plain_text', text: 'Deploy' } }, { type: 'divider' }];
  expect(read(slack, { text: 'shop failed', blocks })).toMatchObject([
    { title: 'Deploy', message: 'shop failed' },
  ]);
  expect(read(slack, { blocks })).toMatchObject([{ title: 'Deploy', message: 'Deploy' }]);
});

it('a headline is shown beside the title of an attachment, and beside another headline', () => {
  const headline = (text: string) => ({ type: 'header', text: { type: 'plain_text', text } });
  const attachments = [{ title: 'shop 1.4.2', text: 'exit code 1' }];
  const blocks = [headline('Deploy failed')];
  const ofAttachment = 'shop 1.4.2\n\nexit code 1';
  expect(read(slack, { text: 'fallback', blocks, attachments })).toMatchObject([
    { title: 'Deploy failed', message: `fallback\n\n${ofAttachment}` },
  ]);
  expect(read(slack, { blocks, attachments })).toMatchObject([
    { title: 'Deploy failed', message: ofAttachment },
  ]);
  expect(read(slack, { text: 'fallback', blocks: [...blocks, headline('shop')] })).toMatchObject([
    { title: 'Deploy failed', message: 'Deploy failed\n\nshop\n\nfallback' },
  ]);
});

it('lists that are null are absent', () => {
  expect(read(slack, { text: 'a', attachments: null, blocks: null })).toMatchObject([{ message: 'a' }]);
});
