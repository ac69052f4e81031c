import { expect, test } from 'vitest';
import { applyPlan } from './apply.ts';
import { readyChannels } from './channels.ts';
import type { Current } from './entries.ts';
import { parseConfiguration } from './file.ts';
import { planOf } from './plan.ts';

const empty: Current = {
  ...{ levels: [], mappings: [], onCall: [], channels: [], panels: [], rules: [], searches: [], tokens: [] },
};

/** What applying the file asks of the server, and what it says to people. */
async function apply(text: string, known: Partial<Current>, env: Record<string, string> = {}) {
  const current = { ...empty, ...known };
  const file = await parseConfiguration(text, 'f.yaml');
  const sent: [string, string, unknown][] = [];
  const connection = {
    async request<T>(method: string, path: string, body?: unknown): Promise<T> {
      if (method !== 'GET') sent.push([method, path, body]);
      if (path.endsWith('/compare-secrets')) {
        const { secrets } = body as { readonly secrets: Record<string, string> };
        return { differing: Object.keys(secrets).filter((name) => secrets[name] !== 'stored') } as T;
      }
      return { panels: current.panels } as T;
    },
  };
  const channels = await readyChannels(connection, { file, current, env });
  const plan = planOf(file.configuration, current, channels);
  await applyPlan(connection, plan, { file, prune: false, values: channels.values });
  return { sent, notes: channels.notes };
}

test('a changed search is changed and keeps its id', async () => {
  const known = {
    ...{ id: 's1', name: 'databases', q: 'host:db-*' },
    ...{ createdAt: '2026-11-20T10:00:00.000Z', createdBy: 'a' },
  };
  const text = 'version: 1\nsearches: [{ name: databases, q: "host:new-*" }]\n';
  expect(await apply(text, { searches: [known] })).toEqual({
    sent: [['PUT', '/api/searches/s1', { name: 'databases', q: 'host:new-*' }]],
    notes: [],
  });
});

const chat: Current['channels'][number] = {
  ...{ id: 'c1', name: 'chat', kind: 'telegram', enabled: true },
  ...{ settings: { chat: '-1' }, secrets: ['token'] },
};
const chatFile = (settings: string) => `version: 1
channels:
  - name: chat
    kind: telegram
    settings: ${settings}
    secrets: { token: "\${CHAT_TOKEN}" }
`;
const compared = (token: string) => ['POST', '/api/channels/c1/compare-secrets', { secrets: { token } }];

test('of a channel that is there, only what differs is changed; secrets follow a new address', async () => {
  const run = (settings: string, token?: string) =>
    apply(chatFile(settings), { channels: [chat] }, token === undefined ? {} : { CHAT_TOKEN: token });
  expect(await run('{ chat: " -1 " }', 'stored')).toEqual({ sent: [compared('stored')], notes: [] });
  expect((await run('{ chat: "-1" }', 'new')).sent).toEqual([
    compared('new'),
    ['PATCH', '/api/channels/c1', { secrets: { token: 'new' } }],
  ]);
  const elsewhere = { chat: '-1', url: 'https://bot.example.org' };
  expect((await run(JSON.stringify(elsewhere), 'stored')).sent).toEqual([
    compared('stored'),
    ['PATCH', '/api/channels/c1', { settings: elsewhere, secrets: { token: 'stored' } }],
  ]);
  expect(await run('{ chat: "-2" }')).toEqual({
    sent: [['PATCH', '/api/channels/c1', { settings: { chat: '-2' } }]],
    notes: ['channel "chat" keeps its token: the environment variable CHAT_TOKEN is not set'],
  });
  await expect(run(JSON.stringify(elsewhere))).rejects.toThrow(
    'f.yaml:6:23: channels[0].secrets.token: enter it again, because url changes',
  );
});

test('it is reported that the server will create a signing key; the key is not shown', async () => {
  const text =
    'version: 1\nchannels: [{ name: hook, kind: webhook, settings: { url: https://example.org } }]\n';
  const { sent, notes } = await apply(text, {});
  expect(sent).toMatchObject([['POST', '/api/channels', { name: 'hook', secrets: {} }]]);
  expect(notes).toEqual([expect.stringContaining('channel "hook" gets a signingKey that nobody can read')]);
});

test('mistakes of channels are found before anything is changed, all at once', async () => {
  const other = { ...chat, name: 'other' };
  const text = `${chatFile('{ chat: "-1" }')}  - { name: hook, kind: webhook, settings: { url: ftp://x } }
  - { name: other, kind: slack }
`;
  await expect(apply(text, { channels: [other] })).rejects.toThrow(
    `f.yaml:6:23: channels[0].secrets.token: the environment variable CHAT_TOKEN is not set
f.yaml:7:51: channels[1].settings.url: must be an absolute URL, as in https://example.org/path
f.yaml:8:26: channels[2].kind: the server has it as telegram, and a kind cannot be changed: use another name`,
  );
  await expect(apply(chatFile('{}').replace(`\${CHAT_TOKEN}`, 'bot-secret'), {})).rejects.toThrow(
    `f.yaml:6:23: channels[0].secrets.token: is not valid: write \${NAME}, and apply takes the value from the environment variable NAME`,
  );
});
