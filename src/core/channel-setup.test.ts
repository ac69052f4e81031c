import { expect, test } from 'vitest';
import { changedChannelFields, newChannelFields } from './channel-setup.ts';

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

test.each(['ntfy', 'telegram', 'pagerduty', 'apprise', 'gotify', 'webhook'] as const)(
  'another address takes no secret of %s along',
  (kind) => {
    const secret = { webhook: 'authorization', pagerduty: 'routingKey', apprise: 'urls' } as const;
    const key = kind in secret ? secret[kind as keyof typeof secret] : 'token';
    const settings = { ...(kind === 'ntfy' && { topic: 't' }), ...(kind === 'telegram' && { chat: '1' }) };
    const before = { settings: { ...settings, url: 'https://a.example.org' }, names: [key], secrets: {} };
    const changed = { settings: { ...settings, url: 'https://b.example.org' } };
    expect(() => changedChannelFields(kind, changed, before)).toThrow(`secrets.${key}: enter it again`);
  },
);
