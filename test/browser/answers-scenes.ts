/** One notification of each kind of answer to "is it on my panel, and why?". */
import type { Page } from 'playwright-core';
import type { TestServer } from '../support/server.ts';
import type { DashboardScenes } from './dashboard-scene.ts';

/** Their titles, and what the drawer says of each at first sight. */
export const answers: Readonly<Record<string, RegExp>> = {
  'Shown disk': /^Shown by 1 of 2 panels, until cleared\./,
  'Unseen disk': /^Not shown yet\. It waits for its 2 panels until cleared\./,
  'Muted disk': /^Not shown: the rule “Disks are quiet” muted it\./,
  'Throttled disk': /^Not shown: the rule “One in a minute” throttled it\..*Open that notification$/,
  'Unrouted disk': /^Not on a panel: the rules send it to panels with the tag none, but there are none\.$/,
  'Cleared disk': /^Off the panels: cleared on .* by .+\.$/,
  'Replaced disk': /^Off the panels: replaced on .* by a newer .*Open the newer notification$/,
  'Expired disk': /^Off the panels: its display time ended on /,
  'Acknowledged disk': /^Not shown yet\. It waits for its 2 panels.*Acknowledged by .* on .*“on my way”$/,
  'Escalated disk': /^Off the panels: escalated on .*Belfry sent it again\.Open the newer notification$/,
};

/** Gives a tenant all of them; an escalation comes a second later. */
export async function seedAnswers(server: TestServer, tenant = 'default'): Promise<void> {
  const key = await server.key('owner', tenant);
  const make = (path: string, json: object) => server.call('POST', path, { token: key, json });
  const titled = (word: string) => ({ title: { contains: word } });
  await make('/api/channels', {
    ...{ name: 'Ops hook', kind: 'webhook' },
    settings: { url: 'http://127.0.0.1:9/hook' },
  });
  await make('/api/rules', { name: 'Disks are quiet', when: titled('Muted'), then: { mute: true } });
  await make('/api/rules', {
    ...{ name: 'One in a minute', when: titled('Throttled'), continue: true },
    then: { throttle: { by: ['title'], perMs: 60_000 } },
  });
  await make('/api/rules', {
    ...{ name: 'Nobody', when: titled('Unrouted') },
    then: { panels: { tags: ['none'] } },
  });
  await make('/api/rules', {
    ...{ name: 'On call', when: titled('Escalated'), continue: true },
    then: { escalate: [{ afterMs: 1_000, setLevel: 'critical' }] },
  });
  await make('/api/rules', {
    ...{ name: 'To ops', when: titled('Shown'), continue: true },
    then: { channels: ['Ops hook'] },
  });
  const token = await server.token({ tenant, name: 'disks' });
  const [east] = await Promise.all(
    ['East wall', 'West wall'].map(
      async (name) => (await server.call('POST', '/api/panels', { token, json: { name } })).json.id as string,
    ),
  );
  const send = async (word: string, more: object = {}) => {
    const json = {
      title: `${word} disk`,
      message: '/var is at 93 %',
      level: 'error',
      host: 'disk-1',
      ...more,
    };
    return (await server.notify(token, json)).json.id as string;
  };
  await send('Escalated', { key: 'escalated' });
  const shown = await send('Shown');
  await server.call('POST', `/api/panels/${east}/receipts`, {
    token,
    json: [{ id: shown, state: 'shown', at: Date.now() }],
  });
  for (const word of ['Unseen', 'Muted', 'Throttled', 'Throttled', 'Unrouted']) await send(word);
  await server.call('POST', `/api/notifications/${await send('Cleared')}/clear`, { token: key });
  await send('Replaced', { key: 'replaced' });
  await send('Repeated', { key: 'replaced', level: 'success' });
  await send('Expired', { ttl: 1_000 });
  await server.call('POST', `/api/notifications/${await send('Acknowledged')}/acknowledge`, {
    token: key,
    json: { note: 'on my way' },
  });
}

/** Opens the oldest of that title, of which there may be an escalation too; of throttled ones the newest. */
export async function openAnswer(page: Page, title: string): Promise<void> {
  const rows = page.locator('[role=grid] [id^=row-]').filter({ hasText: title });
  const row = title.startsWith('Throttled') ? rows.first() : rows.last();
  // Elsewhere a click may be on a value, which refines the search.
  await row.locator('strong').click();
  await page.getByRole('complementary').getByRole('heading', { name: title }).waitFor();
}

export const answersScenes: readonly DashboardScenes[] = [
  {
    name: 'answers',
    fill: async ({ server }) => {
      await seedAnswers(server);
      const secrets = { routingKey: 'r', webhookSecret: 'a-secret-of-some-length' };
      await server.call('POST', '/api/channels', {
        ...{ token: await server.key('admin'), json: { name: 'Pager', kind: 'pagerduty', secrets } },
      });
      await server.call('POST', '/api/channels', {
        token: await server.key('admin'),
        json: {
          ...{ name: 'Shift chat', kind: 'telegram', secrets: { token: '123456:ABC' } },
          settings: { chat: '-1001234567890', url: 'http://127.0.0.1:9', polling: 'on' },
        },
      });
      const token = await server.key('viewer');
      const q = encodeURIComponent('token:"belfry:escalation"');
      while ((await server.call('GET', `/api/history?q=${q}`, { token })).json.notifications.length === 0);
    },
    scenes: [
      { name: 'channels', path: 'settings/channels' },
      {
        name: 'channel',
        path: 'settings/channels',
        act: (page) => page.getByRole('button', { name: 'Ops hook' }).click(),
      },
      {
        name: 'channel-address',
        path: 'settings/channels',
        act: async (page) => {
          await page.getByRole('button', { name: 'Pager' }).click();
          await page.getByRole('dialog').locator('pre').scrollIntoViewIfNeeded();
        },
      },
      {
        name: 'channel-no-answers',
        path: 'settings/channels',
        act: (page) => page.getByRole('button', { name: 'Shift chat' }).click(),
      },
      ...Object.keys(answers).map((title) => ({
        name: title.split(' ')[0]?.toLowerCase() ?? '',
        path: `history?q=${encodeURIComponent('host:disk-1')}`,
        act: (page: Page) => openAnswer(page, title),
      })),
    ],
  },
];
