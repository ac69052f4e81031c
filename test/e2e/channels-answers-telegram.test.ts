/** Presses of buttons in Telegram that Belfry fetches itself, for a server without a public address. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { createAnswersLab } from '../support/answers-lab.ts';
import { eventually } from '../support/eventually.ts';
import { limitMs } from '../support/patience.ts';
import { TestServer } from '../support/server.ts';
import { endServers, ServerProcess } from '../support/server-process.ts';
import { TelegramBotApi } from '../support/telegram-bot-api.ts';

const env = { BELFRY_OUTBOUND_ALLOW: '127.0.0.1' };
const within = { timeout: limitMs(2_000) };
const bot = '123456:AAbbCCddEE';
let api: TelegramBotApi;
let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start(env);
});
afterAll(() => server.stop());
beforeEach(async () => {
  api = await TelegramBotApi.start(bot);
});
afterEach(async () => {
  for (const { id } of (await call('GET', '/api/channels')).json.channels)
    await call('DELETE', `/api/channels/${id}`);
  await api.close();
});

const lab = createAnswersLab('telegram', () => server);
const { call, alarm, alarmOf } = lab;
const settings = (over: object = {}) => ({ url: api.url, chat: '-100', polling: 'on', ...over });
const channel = (
  name: string,
  { as = lab.key, secrets = { token: bot }, ...over }: { as?: string; secrets?: object; chat?: string } = {},
) => lab.usedChannel(name, { kind: 'telegram', settings: settings(over), secrets }, as);
/** What the buttons of the message to this chat send. */
const buttonsOf = async (chat = '-100', of = bot): Promise<{ acknowledge: string; shelve: string }> => {
  const find = () => api.callsOf('sendMessage', of).find(({ json }) => json.chat_id === chat)?.json;
  await eventually(() => expect(find()?.reply_markup).toBeDefined());
  const [acknowledge, shelve] = find().reply_markup.inline_keyboard[0].map(
    (button: { callback_data: string }) => button.callback_data,
  );
  return { acknowledge, shelve };
};
const polled = (of = bot) => eventually(() => expect(api.isPolled(of)).toBe(true));
/** A channel that was added to those of a bot takes presses a moment later. */
const joined = async (button: string, chat: number, id: string, as = lab.key) => {
  await eventually(async () => {
    api.press(bot, button, { chat });
    expect((await alarmOf(id, as)).state).toBe('acknowledged');
  });
  await eventually(() => expect(api.pending(bot)).toBe(0));
  await call('DELETE', `/api/alarms/${id}/acknowledge`, undefined, as);
};
const stateOf = async (id: string, as = lab.key) =>
  (await call('GET', '/api/channels', undefined, as)).json.channels.find(
    (each: { id: string }) => each.id === id,
  ).state;

test('a press holds within two seconds, is answered and confirmed, and the message says who did it', async () => {
  await channel('ops');
  await polled();
  const id = await alarm();
  const { acknowledge, shelve } = await buttonsOf();
  const press = api.press(bot, acknowledge, { chat: -100 });
  await eventually(
    async () => expect(await alarmOf(id)).toMatchObject({ acknowledged: { by: 'Ann Example (Telegram)' } }),
    within,
  );
  await eventually(() => {
    expect(api.callsOf('answerCallbackQuery').map(({ json }) => json)).toEqual([
      { callback_query_id: press, text: 'Done.' },
    ]);
    expect(api.callsOf('editMessageText').at(-1)?.json).toMatchObject({
      ...{ chat_id: '-100', message_id: 17 },
      text: expect.stringMatching(/^Acknowledged by Ann Example \(Telegram\)/),
    });
    expect(api.pending(bot)).toBe(0);
  }, within);
  await polled();
  api.press(bot, acknowledge, { chat: -100 });
  api.press(bot, shelve, { chat: -100, person: 'Bob' });
  await eventually(async () => expect((await alarmOf(id)).state).toBe('shelved'), within);
  await eventually(() =>
    expect(api.callsOf('answerCallbackQuery').map(({ json }) => json.text)).toEqual([
      'Done.',
      expect.stringMatching(/^Nothing was changed: .+ has acknowledged it already\.$/),
      'Done.',
    ]),
  );
  expect(api.callsOf('getUpdates')[0]?.json.allowed_updates).toEqual(['callback_query']);
  expect(api.callsOf('getUpdates')[0]?.json).not.toHaveProperty('offset');
});

test('two channels of a bot share one poll, each button acts for its own channel, and only in its chat', async () => {
  const [first, second] = [await channel('first'), await channel('second', { chat: '-200' })];
  await polled();
  const ids = { '-100': await alarm({ key: 'a' }), '-200': await alarm({ key: 'b' }) };
  await eventually(() => expect(api.callsOf('sendMessage')).toHaveLength(4));
  const buttonTo = (chat: string, at: number) =>
    api.callsOf('sendMessage').filter(({ json }) => json.chat_id === chat)[at]?.json.reply_markup
      .inline_keyboard[0][0].callback_data;
  await joined(buttonTo('-200', 1), -200, ids['-200']);
  const answered = api.callsOf('answerCallbackQuery').length;
  // From the other chat, of no channel, of no notification, and of no button.
  const own = buttonTo('-100', 0);
  api.press(bot, own, { chat: -200 });
  api.press(bot, own.replace(/\.[^.]+\./, `.${'A'.repeat(22)}.`), { chat: -100 });
  api.press(bot, own.replace(/[^.]+$/, 'A'.repeat(22)), { chat: -100 });
  api.press(bot, own.replace('acknowledge', 'constructor'), { chat: -100 });
  const works = () =>
    api
      .callsOf('answerCallbackQuery')
      .slice(answered)
      .map(({ json }) => json.text);
  await eventually(() => expect(works()).toEqual(Array(4).fill('This button no longer works.')));
  for (const id of Object.values(ids)) expect((await alarmOf(id)).state).toBe('open');
  api.press(bot, own, { chat: -100 });
  await eventually(async () => expect((await alarmOf(ids['-100'])).state).toBe('acknowledged'), within);
  api.press(bot, buttonTo('-200', 1), { chat: -200 });
  await eventually(async () => expect((await alarmOf(ids['-200'])).state).toBe('acknowledged'), within);
  // Had each its own, they would end each other's.
  for (const id of [first, second]) expect(await stateOf(id)).toMatchObject({ answersFailingSince: null });
  // The other one goes on alone.
  await call('DELETE', `/api/channels/${first}`);
  await call('DELETE', `/api/alarms/${ids['-200']}/acknowledge`);
  await polled();
  api.press(bot, buttonTo('-200', 1), { chat: -200 });
  await eventually(async () => expect((await alarmOf(ids['-200'])).state).toBe('acknowledged'), within);
});

test('tenants with the same bot get the presses of their own channels alone', async () => {
  const name = `${lab.tenant}-other`;
  const [otherKey, otherToken] = [await server.key('admin', name), await server.token({ tenant: name })];
  const own = await channel('ops');
  const other = await channel('ops', { as: otherKey, chat: '-200' });
  const ids = [await alarm(), await alarm({}, otherToken)] as const;
  const [ownButton, otherButton] = [await buttonsOf('-100'), await buttonsOf('-200')];
  await joined(otherButton.acknowledge, -200, ids[1], otherKey);
  // A forged press names the channel of the other tenant from the own chat.
  api.press(bot, otherButton.acknowledge, { chat: -100 });
  api.press(bot, ownButton.acknowledge, { chat: -100 });
  await eventually(async () => expect((await alarmOf(ids[0])).state).toBe('acknowledged'));
  expect((await alarmOf(ids[1], otherKey)).state).toBe('open');
  api.press(bot, otherButton.acknowledge, { chat: -200 });
  await eventually(async () => expect((await alarmOf(ids[1], otherKey)).state).toBe('acknowledged'));
  expect(await stateOf(own)).toMatchObject({ answersFailingSince: null });
  expect(await stateOf(other, otherKey)).toMatchObject({ answersFailingSince: null });
  await call('DELETE', `/api/channels/${other}`, undefined, otherKey);
});

test('what Telegram refuses is shown with the channel, to admins alone why, and goes away', async () => {
  const id = await channel('ops');
  await polled();
  api.setWebhook(bot, 'https://example.org');
  await eventually(async () =>
    expect(await stateOf(id)).toMatchObject({
      answersFailingSince: expect.stringMatching(/^20/),
      answersError: expect.stringMatching(/^Telegram answered 409: Conflict: .*; remove the webhook/),
      failingSince: null,
    }),
  );
  const viewer = await server.key('viewer', lab.tenant);
  expect(await stateOf(id, viewer)).toMatchObject({
    ...{ answersFailingSince: expect.any(String), answersError: null },
  });
  await call('PATCH', `/api/channels/${id}`, { enabled: false });
  expect(await stateOf(id)).toMatchObject({ answersFailingSince: null, answersError: null });
  api.setWebhook(bot, '');
  await call('PATCH', `/api/channels/${id}`, { enabled: true });
  await polled();
  await eventually(async () => expect(await stateOf(id)).toMatchObject({ answersError: null }));
  // The token that is wrong is not shown.
  const wrong = '654321:ZZyyXXwwVV';
  await call('PATCH', `/api/channels/${id}`, { secrets: { token: wrong } });
  await eventually(async () =>
    expect((await stateOf(id)).answersError).toBe(
      'Telegram answered 401: Unauthorized; is the token of the bot right?',
    ),
  );
  api.addBot(wrong);
  await polled(wrong);
  await eventually(async () => expect((await stateOf(id)).answersError).toBeNull());
});

test('after a failure presses count again, and the problem has neither the token nor an end', async () => {
  const id = await channel('ops');
  await polled();
  const alarmId = await alarm();
  const { acknowledge } = await buttonsOf();
  api.failure = {
    status: 400,
    body: JSON.stringify({ ok: false, description: `no ${bot} ${'!'.repeat(999)}` }),
  };
  api.setWebhook(bot, 'https://example.org');
  api.setWebhook(bot, '');
  await eventually(async () =>
    expect((await stateOf(id)).answersError).toMatch(/^Telegram answered 400: no … !+$/),
  );
  expect((await stateOf(id)).answersError).toHaveLength(300);
  api.press(bot, acknowledge, { chat: -100 });
  api.failure = undefined;
  await eventually(async () => expect((await alarmOf(alarmId)).state).toBe('acknowledged'));
  await eventually(async () => expect((await stateOf(id)).answersError).toBeNull());
});

test('a channel that is disabled or deleted fetches nothing within two seconds', async () => {
  const id = await channel('ops');
  for (const end of [{ enabled: false }, { settings: settings({ polling: 'off' }) }]) {
    await polled();
    await call('PATCH', `/api/channels/${id}`, end);
    await eventually(() => expect(api.isPolled(bot)).toBe(false), within);
    await call('PATCH', `/api/channels/${id}`, { enabled: true, settings: settings() });
  }
  await polled();
  await call('DELETE', `/api/channels/${id}`);
  await eventually(() => expect(api.isPolled(bot)).toBe(false), within);
});

test('a webhook secret and polling exclude each other, and without both there are no buttons', async () => {
  const given = {
    name: 'x',
    kind: 'telegram',
    secrets: { token: bot, webhookSecret: 'a-secret-of-some-length' },
  };
  const refused = await call('POST', '/api/channels', { ...given, settings: settings() });
  expect(refused).toMatchObject({ status: 400, text: expect.stringContaining('settings.polling') });
  const made = await call('POST', '/api/channels', { ...given, settings: settings({ polling: 'off' }) });
  expect(made.status).toBe(201);
  const change = (json: object) => call('PATCH', `/api/channels/${made.json.id}`, json);
  expect((await change({ settings: settings() })).status).toBe(400);
  expect((await change({ settings: settings(), secrets: { webhookSecret: null } })).status).toBe(200);
  expect((await change({ secrets: { webhookSecret: 'a-secret-of-some-length' } })).status).toBe(400);
  const { polling: _, ...plain } = settings();
  await change({ settings: plain });
  await call('POST', '/api/rules', { name: 'x', then: { channels: ['x'] } });
  await alarm();
  await eventually(() => expect(api.callsOf('sendMessage')).toHaveLength(1));
  expect(api.callsOf('sendMessage')[0]?.json).not.toHaveProperty('reply_markup');
});

test('over a kill and a restart, each press counts once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-telegram-'));
  onTestFinished(async () => {
    await endServers();
    rmSync(folder, { recursive: true, force: true });
  });
  const setUp = await TestServer.start(env, folder);
  const [own, sender] = [await setUp.key('admin'), await setUp.token()];
  const given = { name: 'ops', kind: 'telegram', settings: settings(), secrets: { token: bot } };
  await setUp.call('POST', '/api/channels', { token: own, json: given });
  await setUp.call('POST', '/api/rules', { token: own, json: { name: 'r', then: { channels: ['ops'] } } });
  const sent = { title: 'Disk full', message: 'm', level: 'error', key: 'disk' };
  const { id } = (await setUp.notify(sender, sent)).json;
  const { acknowledge } = await buttonsOf();
  await setUp.stop({ keep: true });
  await eventually(() => expect(api.isPolled(bot)).toBe(false));
  const request = async (process: ServerProcess, path: string, method = 'GET') =>
    (await fetch(`${process.url}${path}`, { method, headers: { authorization: `Bearer ${own}` } })).json();
  const entries = async (process: ServerProcess) =>
    ((await request(process, `/api/alarms/${id}`)) as { events: { kind: string }[] }).events.length;

  // Pressed while no server runs.
  api.press(bot, acknowledge, { chat: -100 });
  const first = await ServerProcess.start({ folder, env });
  await eventually(async () => expect(await entries(first)).toBe(1));
  await eventually(() => expect(api.pending(bot)).toBe(0));
  await request(first, `/api/alarms/${id}/acknowledge`, 'DELETE');
  await first.end('SIGKILL');
  const answered = api.callsOf('answerCallbackQuery').length;
  const second = await ServerProcess.start({ folder, env });
  await polled();
  api.press(bot, acknowledge, { chat: -100, person: 'Bob' });
  await eventually(() => expect(api.callsOf('answerCallbackQuery')).toHaveLength(answered + 1));
  const { events, acknowledged } = (await request(second, `/api/alarms/${id}`)) as {
    events: unknown[];
    acknowledged: { by: string };
  };
  expect(events).toHaveLength(3);
  expect(acknowledged.by).toBe('Bob Example (Telegram)');

  // The end comes between storing and confirming: the press comes again, and changes nothing.
  await eventually(() => expect(api.pending(bot)).toBe(0));
  await request(second, `/api/alarms/${id}/acknowledge`, 'DELETE');
  await eventually(() => expect(api.isPolled(bot)).toBe(true));
  api.losesConfirmations = true;
  api.press(bot, acknowledge, { chat: -100 });
  await eventually(async () => expect(await entries(second)).toBe(5));
  await second.end('SIGKILL');
  expect(api.pending(bot)).toBe(1);
  api.losesConfirmations = false;
  const third = await ServerProcess.start({ folder, env });
  await eventually(() => expect(api.pending(bot)).toBe(0));
  await eventually(() =>
    expect(api.callsOf('answerCallbackQuery').at(-1)?.json.text).toMatch(/ has acknowledged it already/),
  );
  expect(await entries(third)).toBe(5);
});
