import { expect, test } from 'vitest';
import { changedChannelFields, newChannelFields, publicSettings } from './channel-setup.ts';

const name = 'c';
const own = { to: 'a@example.org', from: 'b@example.org', server: 'smtps://mail.example.org', user: 'b' };

test.each([
  [{ ...own, from: '' }, { password: 'p' }, 'settings.from: is required with server'],
  [{ ...own, server: '' }, { password: 'p' }, 'settings.server: is required with from'],
  [{ to: own.to, from: own.from }, {}, 'settings.server: is required with from'],
  [own, {}, 'secrets.password: is required'],
  [{ ...own, user: '' }, { password: 'p' }, 'settings.user: is required'],
])('a mailbox that cannot be sent to is refused: %j', (settings, secrets, error) => {
  expect(() => newChannelFields({ name, kind: 'email', settings, secrets })).toThrow(error);
});

test('a password stays with its server', () => {
  const before = { settings: own, names: ['password'], secrets: { password: 'p' } };
  const settings = { ...own, server: 'smtps://attacker.example.org' };
  expect(() => changedChannelFields('email', { settings }, before)).toThrow(
    'secrets.password: enter it again, because server changes',
  );
  expect(changedChannelFields('email', { settings, secrets: { password: 'q' } }, before).secrets).toEqual({
    password: 'q',
  });
  // Without a server there is nothing that it is for.
  expect(changedChannelFields('email', { settings: { to: own.to } }, before)).toEqual({
    ...{ settings: { to: own.to }, secrets: {} },
  });
  expect(changedChannelFields('email', { settings: { ...own, to: 'c@example.org' } }, before).secrets).toBe(
    undefined,
  );
});

test.each([
  [{ url: 'https://b' }, {}, 'settings.url: must be an absolute URL, as in mqtts:'],
  [{ url: 'mqtt://u:p@b' }, {}, 'settings.url: must not contain a user name'],
  [{ url: 'mqtt://b/topic' }, {}, 'settings.url: must be the broker alone'],
  [{ url: 'wss://u:p@b/mqtt' }, {}, 'settings.url: must not contain a user name'],
  [{ url: 'wss://b/mqtt?key=k' }, {}, 'settings.url: must not contain ? or #'],
  [{ url: 'ws://b/#a' }, {}, 'settings.url: must not contain ? or #'],
  ...['a/+', 'a/#', '$SYS/a', '{nobody}', '{level', 'a\u0007', 'x'.repeat(501)].map(
    (topic) => [{ topic }, {}, 'settings.topic: must be a topic'] as const,
  ),
  ...['s', 's/{alarm}/+', '$SYS/{alarm}', '{alarm}{key}', `{alarm}${'x'.repeat(500)}`].map(
    (stateTopic) => [{ stateTopic }, {}, 'settings.stateTopic: must be a topic with {alarm}'] as const,
  ),
  [{ topic: '{key}', stateTopic: '{alarm}' }, {}, 'settings.stateTopic: must be another topic than topic'],
  [{ qos: '2' }, {}, 'settings.qos: must be 1 or 0'],
  [{ retain: 'yes' }, {}, 'settings.retain: must be false or true'],
  [{}, { password: 'p' }, 'settings.user: is required with password'],
] as const)('a broker that cannot be published to is refused: %j', (given, secrets, error) => {
  const settings = { url: 'mqtts://b', topic: 'a', ...given };
  expect(() => newChannelFields({ name, kind: 'mqtt', settings, secrets })).toThrow(error);
});

test.each([
  [{ url: 'ftp://a' }, {}, 'settings.url: must be an absolute URL'],
  [{ url: 'http://a/?x' }, {}, 'settings.url: must not contain ? or #'],
  [{ url: 'http://a/api/v2/alerts' }, {}, 'settings.url: must be the address without /api/v2'],
  [{}, { password: 'p' }, 'settings.user: is required with password'],
  [{ user: 'u' }, {}, 'secrets.password: is required with user'],
  [{ user: 'u' }, { password: 'p', token: 't' }, 'secrets.token: must not be set with user'],
  ...['a', 'a=', '=b', 'a-b=c', '1a=b', 'a=b, a=c', 'tenant=x', 'alarm=x', 'ä=b'].map(
    (labels) => [{ labels }, {}, 'settings.labels: must be at most 20 labels, as in team=ops'] as const,
  ),
  [{ labels: Array.from({ length: 21 }, (_, i) => `a${i}=b`).join() }, {}, 'settings.labels: must be'],
  [{ silences: 'yes' }, {}, 'settings.silences: must be on or off'],
] as const)('an Alertmanager that cannot be sent to is refused: %j', (given, secrets, error) => {
  const settings = { url: 'http://a:9093', ...given };
  expect(() => newChannelFields({ name, kind: 'alertmanager', settings, secrets })).toThrow(error);
});

test('an Alertmanager may be behind a path, and take labels', () => {
  const settings = {
    url: 'https://g/api/alertmanager/grafana',
    user: 'u',
    labels: 'alertname=X, site=plant 2',
  };
  const secrets = { password: 'p' };
  expect(newChannelFields({ name, kind: 'alertmanager', settings, secrets })).toEqual({ settings, secrets });
});

test.each(['mqtt://b:1883', 'mqtts://b', 'ws://b:8083/mqtt', 'wss://b/mqtt'])(
  'a topic may hold what its notification has, at %s',
  (url) => {
    const settings = {
      url,
      topic: 'a/{level}/{host}/{key}/{tenant}',
      qos: '0',
      retain: 'true',
      user: 'u',
    };
    expect(newChannelFields({ name, kind: 'mqtt', settings, secrets: { password: 'p' } })).toEqual({
      ...{ settings, secrets: { password: 'p' } },
    });
  },
);

test.each(['ntfy', 'telegram', 'pagerduty', 'alertmanager', 'apprise', 'gotify', 'webhook', 'mqtt'] as const)(
  'another address takes no secret of %s along',
  (kind) => {
    const secret = {
      ...{ webhook: 'authorization', pagerduty: 'routingKey', apprise: 'urls', mqtt: 'password' },
    } as const;
    const key = kind in secret ? secret[kind as keyof typeof secret] : 'token';
    const settings = {
      ...(kind === 'ntfy' && { topic: 't' }),
      ...(kind === 'telegram' && { chat: '1' }),
      ...(kind === 'mqtt' && { topic: 't', user: 'u' }),
    };
    const scheme = kind === 'mqtt' ? 'mqtts' : 'https';
    const before = { settings: { ...settings, url: `${scheme}://a.example.org` }, names: [key], secrets: {} };
    const changed = { settings: { ...settings, url: `${scheme}://b.example.org` } };
    expect(() => changedChannelFields(kind, changed, before)).toThrow(`secrets.${key}: enter it again`);
  },
);

test.each([
  ['mqtts://b:8883', 'mqtts://b:8883'],
  ['wss://b/secret', 'wss://b'],
])('people who may not change a broker do not see its path: %s', (url, shown) => {
  expect(publicSettings('mqtt', { url, topic: 't', user: 'u' })).toEqual({
    url: shown,
    topic: '…',
    user: 'u',
  });
});
