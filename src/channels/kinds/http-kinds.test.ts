/** What the kinds of HTTP send, as the service's own documentation has it, to a real server. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ChannelKind } from '#contract/channels/channel-fields.ts';
import { noTexts } from '#contract/history/fields.ts';
import { createOutbound } from '#outbound/outbound.ts';
import { Receiver } from '#test/support/receiver.ts';
import type { ChannelSetup, OutgoingNotification, OutgoingUpdate } from '../message.ts';
import { send } from '../send.ts';

let receiver: Receiver;
beforeAll(async () => {
  receiver = await Receiver.start();
});
afterAll(() => receiver.close());
beforeEach(() => {
  receiver.received.length = 0;
});

const usual: OutgoingNotification = {
  ...{ id: '0193', tenant: 'acme', receivedAt: Date.parse('2026-11-22T18:00:00Z') },
  ...{ title: 'Disk full', message: '93 %\nof /var', level: 'error', rank: 40 },
  ...{
    ...{ ...noTexts, instructions: null, alarm: 'disk/db-1', state: 'open' as const },
    ip: '10.0.0.1',
    host: 'db-1',
    key: 'disk/db-1',
    labels: '{"env":"prod","site":"plant 2"}',
    url: 'https://example.org/d?a=1&b=2',
    ttl: 0,
  },
};
const origin = 'error · db-1 · disk/db-1\nenv=prod · site=plant 2';
const asJson = {
  ...{ id: '0193', tenant: 'acme', title: 'Disk full', message: '93 %\nof /var', level: 'error', rank: 40 },
  ...{ ip: '10.0.0.1', host: 'db-1', key: 'disk/db-1', url: 'https://example.org/d?a=1&b=2' },
  labels: { env: 'prod', site: 'plant 2' },
  receivedAt: '2026-11-22T18:00:00.000Z',
  instructions: null,
};

/** A channel of each kind, with the receiver as its service. */
function setUp(kind: ChannelKind): ChannelSetup {
  const { url } = receiver;
  const setups: Partial<Record<ChannelKind, Partial<ChannelSetup>>> = {
    ntfy: { settings: { url, topic: 'alerts' }, secrets: { token: 'tk_1' } },
    gotify: { settings: { url: `${url}/push/` }, secrets: { token: 'app-1' } },
    slack: { secrets: { url: `${url}/services/T/B/x` } },
    teams: { secrets: { url: `${url}/workflows/1?sig=x` } },
    discord: { secrets: { url: `${url}/api/webhooks/1/x?thread_id=2` } },
    telegram: { settings: { url, chat: '-100' }, secrets: { token: '1:x' } },
    pagerduty: { settings: { url }, secrets: { routingKey: 'r'.repeat(32) } },
    alertmanager: {
      ...{
        settings: { url: `${url}/am/`, user: 'u', labels: 'team=ops' },
        secrets: { password: 'p' },
        id: 'c',
      },
    },
    apprise: { settings: { url: `${url}/notify/ops`, tag: 'night' }, secrets: { urls: 'mailto://x' } },
  };
  return { settings: {}, secrets: {}, ...setups[kind] };
}

const acknowledgedWith = (note: string): OutgoingUpdate => ({
  ...{ id: '0193-7', event: 'acknowledged', at: 0, by: 'Ada', note, until: null, reference: '17' },
  timeZone: 'Europe/Berlin',
});

async function deliver(kind: ChannelKind, over: Partial<OutgoingNotification> = {}, update?: OutgoingUpdate) {
  const [outbound, brokers] = [createOutbound(['127.0.0.1']), { idleMs: 0, kept: new Map() }];
  const options = { outbound, brokers, mail: undefined, now: Date.now, signal: AbortSignal.any([]), update };
  return send(kind, setUp(kind), { ...usual, ...over }, options);
}

async function sent(kind: ChannelKind, over: Partial<OutgoingNotification> = {}, update?: OutgoingUpdate) {
  expect(await deliver(kind, over, update)).toMatchObject({ outcome: 'delivered' });
  const { method, path, headers, json, body } = receiver.received.at(-1) ?? {};
  expect([method, headers?.['content-type'], headers?.['user-agent']]).toEqual([
    ...['POST', 'application/json', 'belfry'],
  ]);
  return { path, headers: headers ?? {}, json, body: body ?? '' };
}

describe('a notification', () => {
  test('to ntfy: https://docs.ntfy.sh/publish/#publish-as-json', async () => {
    const { path, headers, json } = await sent('ntfy');
    expect([path, headers.authorization]).toEqual(['/', 'Bearer tk_1']);
    expect(json).toEqual({
      ...{ topic: 'alerts', sequence_id: '0193', title: 'Disk full', message: `93 %\nof /var\n\n${origin}` },
      ...{ priority: 4, tags: ['rotating_light'], click: usual.url },
    });
  });

  test('to Gotify: https://gotify.net/docs/pushmsg and msgextras', async () => {
    const { path, headers, json } = await sent('gotify');
    expect([path, headers['x-gotify-key']]).toEqual(['/push/message', 'app-1']);
    expect(json).toEqual({
      ...{ title: 'Disk full', message: `93 %\nof /var\n\n${origin}`, priority: 8 },
      extras: { 'client::notification': { click: { url: usual.url } } },
    });
    expect((await sent('gotify', { url: null })).json).not.toHaveProperty('extras');
  });

  test('to Alertmanager: https://github.com/prometheus/alertmanager/blob/main/api/v2/openapi.yaml', async () => {
    const { path, headers, json } = await sent('alertmanager');
    expect([path, headers.authorization]).toEqual([
      ...['/am/api/v2/alerts', `Basic ${Buffer.from('u:p').toString('base64')}`],
    ]);
    const labels = { alertname: 'Belfry', team: 'ops', tenant: 'acme', alarm: 'disk/db-1' };
    const open = {
      ...{ labels, startsAt: '2026-11-22T18:00:00.000Z', endsAt: '2036-11-19T18:00:00.000Z' },
      annotations: {
        ...{
          summary: 'Disk full',
          description: '93 %\nof /var',
          level: 'error',
          host: 'db-1',
          key: 'disk/db-1',
        },
        labels: 'env=prod · site=plant 2',
      },
      generatorURL: usual.url,
    };
    expect(json).toEqual([open]);
    // Where Alertmanager may know a later end, the alert ends first.
    const ended = { labels, startsAt: '2026-11-22T17:59:00.000Z', endsAt: '2026-11-22T17:59:00.000Z' };
    expect((await sent('alertmanager', { ttl: 60_000 })).json).toEqual([
      ...[ended, { ...open, endsAt: '2026-11-22T18:01:00.000Z' }],
    ]);
    expect((await sent('alertmanager', { state: 'ended' })).json).toEqual([ended]);
    for (const url of ['javascript:1', 'x', null])
      expect((await sent('alertmanager', { url })).json[0]).not.toHaveProperty('generatorURL');
  });

  test.each(['alertmanager:5a', 'grafana:5a'])(
    'to Alertmanager, not if it came from there: %s',
    async (alarm) => {
      for (const update of [undefined, acknowledgedWith('x')])
        expect(await deliver('alertmanager', { alarm }, update)).toEqual({
          ...{ outcome: 'delivered', answer: expect.stringContaining('not sent') },
        });
      expect(receiver.received).toEqual([]);
    },
  );

  test('to Slack: https://api.slack.com/reference/block-kit/blocks', async () => {
    const { path, json } = await sent('slack');
    expect(path).toBe('/services/T/B/x');
    const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } });
    expect(json).toEqual({
      attachments: [
        {
          ...{ color: expect.stringMatching(/^#[0-9a-f]{6}$/i), fallback: 'Disk full' },
          blocks: [
            section('*<https://example.org/d?a=1&amp;b=2|Disk full>*'),
            section('93 %\nof /var'),
            { type: 'context', elements: [{ type: 'plain_text', text: origin }] },
          ],
        },
      ],
    });
  });

  test('to Teams: an Adaptive Card in the envelope that a workflow takes', async () => {
    const { path, json } = await sent('teams');
    expect(path).toBe('/workflows/1?sig=x');
    const block = (text: string, more: object = {}) => ({ type: 'TextBlock', text, wrap: true, ...more });
    expect(json).toEqual({
      type: 'message',
      attachments: [
        {
          ...{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null },
          content: {
            $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
            ...{ type: 'AdaptiveCard', version: '1.4' },
            body: [
              block('Disk full', { size: 'Medium', weight: 'Bolder', color: 'attention' }),
              block('93 %\nof /var'),
              block(origin, { isSubtle: true, size: 'Small' }),
            ],
            actions: [{ type: 'Action.OpenUrl', title: 'Open', url: usual.url }],
          },
        },
      ],
    });
  });

  test('to Discord: https://discord.com/developers/docs/resources/webhook#execute-webhook', async () => {
    const { path, json } = await sent('discord');
    expect(path).toBe('/api/webhooks/1/x?thread_id=2&wait=true');
    expect(json).toEqual({
      embeds: [
        {
          ...{ title: 'Disk full', description: '93 %\nof /var', color: expect.any(Number) },
          ...{ timestamp: '2026-11-22T18:00:00.000Z', footer: { text: origin }, url: usual.url },
        },
      ],
      allowed_mentions: { parse: [] },
    });
  });

  test('to Telegram: https://core.telegram.org/bots/api#sendmessage', async () => {
    const { path, json } = await sent('telegram');
    expect(path).toBe('/bot1:x/sendMessage');
    expect(json).toEqual({
      ...{ chat_id: '-100', text: `Disk full\n\n93 %\nof /var\n\n${origin}\n${usual.url}` },
      link_preview_options: { is_disabled: true },
    });
  });

  test('to PagerDuty: https://developer.pagerduty.com/docs/send-alert-event', async () => {
    const { path, json } = await sent('pagerduty');
    expect(path).toBe('/v2/enqueue');
    const event = {
      ...{ routing_key: 'r'.repeat(32), event_action: 'trigger', dedup_key: 'disk/db-1' },
      payload: {
        ...{ summary: 'Disk full', source: 'db-1', severity: 'error', timestamp: '2026-11-22T18:00:00.000Z' },
        custom_details: asJson,
      },
      ...{ client: 'Belfry', links: [{ href: usual.url, text: 'Open' }] },
    };
    expect(json).toEqual(event);
    // What is over resolves the incident of its key; without a key it has none.
    const over = { level: 'success', rank: 10 };
    expect((await sent('pagerduty', over)).json).toMatchObject({
      ...{ event_action: 'resolve', dedup_key: 'disk/db-1', payload: { severity: 'info' } },
    });
    expect((await sent('pagerduty', { ...over, key: null, host: null, alarm: '0193' })).json).toMatchObject({
      ...{ event_action: 'trigger', dedup_key: '0193', payload: { source: '10.0.0.1' } },
    });
  });

  test('to the Apprise API: https://github.com/caronc/apprise-api', async () => {
    const { path, json } = await sent('apprise');
    expect(path).toBe('/notify/ops');
    expect(json).toEqual({
      ...{ title: 'Disk full', body: `93 %\nof /var\n\n${origin}`, type: 'failure', format: 'text' },
      ...{ tag: 'night', urls: 'mailto://x' },
    });
  });
});

describe('the runbook of a notification', () => {
  const url = 'https://wiki.example.org/disk?a=1&b=2';
  const over = { labels: JSON.stringify({ env: 'prod', runbook_url: url }) };

  test('is a link of its own, and not among the labels', async () => {
    const [slack] = (await sent('slack', over)).json.attachments;
    expect(slack.blocks[2].text.text).toBe('<https://wiki.example.org/disk?a=1&amp;b=2|Runbook>');
    const { actions } = (await sent('teams', over)).json.attachments[0].content;
    expect(actions.at(-1)).toEqual({ type: 'Action.OpenUrl', title: 'Runbook', url });
    expect((await sent('discord', over)).json.embeds[0].fields).toEqual([{ name: 'Runbook', value: url }]);
    expect((await sent('pagerduty', over)).json.links.at(-1)).toEqual({ href: url, text: 'Runbook' });
    for (const kind of ['telegram', 'ntfy', 'gotify', 'apprise'] as const) {
      const { text, message, body } = (await sent(kind, over)).json;
      expect(text ?? message ?? body).toContain(`\nenv=prod\nRunbook: ${url}`);
    }
    for (const kind of ['slack', 'teams', 'discord', 'telegram'] as const)
      expect((await sent(kind, over)).body).not.toContain('runbook_url');
  });

  test('stands before the page of the alarm in the dashboard, which JSON for programs does not have', async () => {
    const page = 'https://belfry.example.org/t/acme/alarms?id=0193';
    const both = { ...over, page };
    const [slack] = (await sent('slack', both)).json.attachments;
    expect(slack.blocks[2].text.text).toMatch(/\|Runbook> · <https:\S+alarms\?id=0193\|Open in Belfry>$/);
    const { actions } = (await sent('teams', both)).json.attachments[0].content;
    expect(actions.at(-1)).toMatchObject({ title: 'Open in Belfry', url: page });
    const { fields } = (await sent('discord', both)).json.embeds[0];
    expect(fields.at(-1)).toEqual({ name: 'Open in Belfry', value: page });
    const pagerduty = (await sent('pagerduty', both)).json;
    expect(pagerduty.links.at(-1)).toEqual({ href: page, text: 'Open in Belfry' });
    expect(pagerduty.payload.custom_details).not.toHaveProperty('page');
    for (const kind of ['telegram', 'ntfy', 'gotify', 'apprise'] as const) {
      const { text, message, body } = (await sent(kind, both)).json;
      expect(text ?? message ?? body).toContain(`\nRunbook: ${url}\nOpen in Belfry: ${page}`);
    }
  });

  test('and that page are whole in ntfy, whose messages are short, beside long labels', async () => {
    const page = 'https://belfry.example.org/t/acme/alarms?id=0193';
    const labels = JSON.stringify({ where: 'é'.repeat(255), who: 'é'.repeat(255), runbook_url: url });
    const long = { page, labels, key: 'é'.repeat(255), message: 'é'.repeat(16_384) };
    const { message } = (await sent('ntfy', long)).json;
    expect(message.endsWith(`\nRunbook: ${url}\nOpen in Belfry: ${page}`)).toBe(true);
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(4_096);
  });

  test.each(['javascript:alert(1)', 'disk.md', 'https://'])(
    'that is no link, as %s, is a label',
    async (text) => {
      const labels = JSON.stringify({ runbook_url: text });
      for (const kind of ['slack', 'teams', 'discord', 'telegram', 'ntfy'] as const) {
        const { body } = await sent(kind, { labels });
        expect(body).toContain(`runbook_url=${text}`);
        expect(body).not.toContain('Runbook');
      }
    },
  );
});

describe('the instructions of a notification', () => {
  const over = { instructions: 'Call <b>the plant</b>.\n[555 0100](tel:5550100)' };

  test('come after the message, with a title, as plain text', async () => {
    const [slack] = (await sent('slack', over)).json.attachments;
    expect(slack.blocks[2].text.text).toBe(
      '*Instructions*\nCall &lt;b&gt;the plant&lt;/b&gt;.\n[555 0100](tel:5550100)',
    );
    const { body: card } = (await sent('teams', over)).json.attachments[0].content;
    expect(card.slice(2, 4).map(({ text }: { text: string }) => text)).toEqual([
      'Instructions',
      'Call <b>the plant</b>.\n[555 0100]\u200B(tel:5550100)',
    ]);
    expect((await sent('discord', over)).json.embeds[0].description).toBe(
      '93 %\nof /var\n\n**Instructions**\nCall <b>the plant</b>.\n[555 0100]\u200B(tel:5550100)',
    );
    for (const kind of ['telegram', 'ntfy', 'gotify', 'apprise'] as const) {
      const { text, message, body } = (await sent(kind, over)).json;
      expect(text ?? message ?? body).toContain(`93 %\nof /var\n\nInstructions:\n${over.instructions}\n\n`);
    }
    expect((await sent('pagerduty', over)).json.payload.custom_details).toMatchObject(over);
  });

  test('that are long leave room for the message, and a long message leaves room for them', async () => {
    for (const kind of ['slack', 'teams', 'discord', 'telegram', 'ntfy'] as const)
      for (const [message, instructions] of [
        ['x', 'y'.repeat(16_000)],
        ['x'.repeat(16_000), 'y'],
        ['x'.repeat(16_000), 'y'.repeat(16_000)],
      ] as const) {
        const { body } = await sent(kind, { message, instructions });
        expect(body).toMatch(/x[x…]*.*Instructions.*y[y…]*/);
      }
  });
});

test.each([
  [10, 2, 2, 'info', 'success'],
  [20, 3, 4, 'info', 'info'],
  [35, 4, 6, 'warning', 'warning'],
  [45, 4, 8, 'error', 'failure'],
  [99, 5, 10, 'critical', 'failure'],
])('a level of rank %i has the priority of the built-in one at or below it', async (rank, ...expected) => {
  const over = { level: 'own', rank, key: null };
  expect([
    (await sent('ntfy', over)).json.priority,
    (await sent('gotify', over)).json.priority,
    (await sent('pagerduty', over)).json.payload.severity,
    (await sent('apprise', over)).json.type,
  ]).toEqual(expected);
});

test('what happened to an alarm until a time says the time in the zone of the tenant', async () => {
  const until = Date.parse('2026-11-30T10:19:32Z');
  const update = { ...acknowledgedWith('new disk'), until, reference: null };
  const berlin = (await sent('slack', {}, update)).json.blocks[0].text.text;
  expect(berlin).toContain('Acknowledged by Ada until 2026-11-30 11:19 Europe/Berlin: new disk');
  const utc = (await sent('slack', {}, { ...update, timeZone: 'UTC' })).json.blocks[0].text.text;
  expect(utc).toContain('until 2026-11-30 10:19 UTC');
});

describe('what a sender wrote', () => {
  const hostile = {
    title: '<!channel> @everyone [ok](https://evil.example) & <b>x</b>',
    message: '<@U1> <https://evil.example|ok> [ok][1]\n\n[1]: https://evil.example',
    url: 'https://example.org/?a=<b>|c',
  };

  test('calls nobody, and hides no link behind another text', async () => {
    const slack = (await sent('slack', hostile)).json.attachments[0];
    expect(slack.fallback).toBe(
      '&lt;!channel&gt; @everyone [ok](https://evil.example) &amp; &lt;b&gt;x&lt;/b&gt;',
    );
    expect(slack.blocks[0].text.text).toBe(`*<https://example.org/?a=&lt;b&gt;%7Cc|${slack.fallback}>*`);
    expect(slack.blocks[1].text).toEqual({
      ...{ type: 'mrkdwn', verbatim: true },
      text: '&lt;@U1&gt; &lt;https://evil.example|ok&gt; [ok][1]\n\n[1]: https://evil.example',
    });
    const discord = (await sent('discord', hostile)).json;
    expect(discord.allowed_mentions).toEqual({ parse: [] });
    expect(discord.content).toBeUndefined();
    const [title, message] = (await sent('teams', hostile)).json.attachments[0].content.body;
    for (const text of [discord.embeds[0].title, discord.embeds[0].description, title.text, message.text]) {
      expect(text).toContain('[ok]');
      expect(text).not.toMatch(/\][([:]/);
    }
    // Without a parse mode nothing is markup.
    const telegram = (await sent('telegram', hostile)).json;
    expect(telegram.text).toContain(hostile.title);
    expect(telegram).not.toHaveProperty('parse_mode');
    expect((await sent('ntfy', hostile)).json).not.toHaveProperty('markdown');
    expect((await sent('gotify', hostile)).json.extras).not.toHaveProperty('client::display');
  });

  test.each(['a', '&', '満', '🔥'])('fits into what each service takes, of %s', async (letter) => {
    const long = {
      ...{ title: letter.repeat(250), message: letter.repeat(16_384), instructions: letter.repeat(16_000) },
      ...{
        host: letter.repeat(253),
        key: letter.repeat(255),
        labels: JSON.stringify({
          ...{ a: letter.repeat(255), b: letter.repeat(255), c: letter.repeat(255) },
          runbook_url: `https://example.org/${'&'.repeat(235)}`,
        }),
        url: `https://example.org/${'&'.repeat(2_028)}`,
      },
    };
    const [slack] = (await sent('slack', long)).json.attachments;
    for (const { text, elements } of slack.blocks)
      for (const each of text ? [text] : elements) {
        expect(each.text.length).toBeLessThanOrEqual(3_000);
        if (each.type === 'mrkdwn') expect(each.text).not.toMatch(/&[a-z]*…/);
      }
    const [embed] = (await sent('discord', long)).json.embeds;
    const { title, description, footer } = embed;
    expect(title.length).toBeLessThanOrEqual(256);
    expect(description.length).toBeLessThanOrEqual(4_096);
    expect(title.length + description.length + footer.text.length).toBeLessThanOrEqual(6_000);
    const telegram = (await sent('telegram', long)).json.text;
    expect(telegram.length).toBeLessThanOrEqual(4_096);
    expect(telegram.endsWith(long.url)).toBe(true);
    const changed = (await sent('telegram', long, acknowledgedWith(letter.repeat(2_000)))).json.text;
    expect(changed.length).toBeLessThanOrEqual(4_096);
    expect(changed).toMatch(/^Acknowledged by Ada: /);
    expect(changed.endsWith(long.url)).toBe(true);
    const pagerduty = (await sent('pagerduty', long)).json;
    expect(Array.from(pagerduty.dedup_key).length).toBeLessThanOrEqual(255);
    expect(pagerduty.payload.summary.length).toBeLessThanOrEqual(1_024);
    for (const text of [title, description, telegram, slack.blocks[1].text.text])
      expect(text.isWellFormed()).toBe(true);
    expect(Buffer.byteLength((await sent('teams', long)).body)).toBeLessThan(28_000);
    expect(Buffer.byteLength((await sent('ntfy', long)).json.message)).toBeLessThanOrEqual(4_096);
  });
});

test.each<[ChannelKind, { headers?: Record<string, string>; body?: string }, number | undefined]>([
  ['slack', { headers: { 'retry-after': '30' } }, 30_000],
  ['teams', { headers: { 'retry-after': new Date(4_000_000_000_000).toUTCString() } }, 3_600_000],
  ['discord', { headers: { 'retry-after': '65' }, body: '{"retry_after": 64.57, "global": false}' }, 64_570],
  ['discord', { headers: { 'retry-after': '1.5' }, body: 'error code: 1015' }, 1_500],
  ['telegram', { body: '{"ok":false,"error_code":429,"parameters":{"retry_after":7}}' }, 7_000],
  ['ntfy', { body: '{"code":42901,"http":429}' }, undefined],
  ['pagerduty', { body: '{"status":"throttle exceeded"}' }, undefined],
])('%s says when to come back: %j', async (kind, reply, retryAfterMs) => {
  receiver.replies.push({ status: 429, ...reply });
  expect(await deliver(kind)).toEqual({
    ...{ outcome: 'retry', answer: expect.stringMatching(/^answered 429/) },
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
});
