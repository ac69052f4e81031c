import { describe, expect, test } from 'vitest';
import type { Scope } from '#contract/people/token.ts';
import {
  assertMayGrantRole,
  keyView,
  newKey,
  newPanelToken,
  newToken,
  tokenChange,
  tokenView,
} from './credentials.ts';
import { hashSecret, parseSecret } from './secrets.ts';

const at = Date.parse('2026-11-01T00:00:00Z');

test('only a token with the scope panel alone may be for one panel', () => {
  const make = (scopes?: Scope[]) =>
    newToken(1, { name: 'x', panelId: 'p', ...(scopes && { scopes }) }, 'cli', at).record.panelId;
  expect(make(['panel'])).toBe('p');
  for (const scopes of [undefined, ['panel', 'notify'] as Scope[]])
    expect(() => make(scopes)).toThrow('only a token with the scope panel alone may be for one panel');
});

describe('a new credential', () => {
  test('keeps the hash of its secret and not the secret', () => {
    const { record, text } = newToken(1, { name: 'ci' }, 'cli', at);
    const secret = parseSecret(text)?.secret ?? '';
    expect(record).toMatchObject({
      tenant: 1,
      kind: 'token',
      id: parseSecret(text)?.id,
      hash: hashSecret(secret),
    });
    expect(JSON.stringify(record)).not.toContain(secret);
  });

  test('is returned without its hash and its tenant', () => {
    for (const view of [
      tokenView(newToken(77, { name: 'ci' }, 'cli', at).record),
      keyView(newKey(77, { name: 'ci', role: 'admin' }, 'cli', at).record),
    ]) {
      expect(Object.keys(view)).not.toContain('hash');
      expect(JSON.stringify(view)).not.toContain('77');
    }
  });

  test('a key has a role and no scopes, a screen’s token the panel scope and its panel', () => {
    expect(newKey(1, { name: 'x', role: 'member' }, 'cli', at).record).toMatchObject({
      kind: 'key',
      role: 'member',
      scopes: [],
    });
    const { record } = newPanelToken(1, { id: 'p', name: 'Lobby' }, 'ann', at);
    expect(record).toMatchObject({
      kind: 'token',
      name: 'panel Lobby',
      scopes: ['panel'],
      panelId: 'p',
      createdBy: 'ann',
    });
  });

  test('scopes stand in one order, each once; none is all', () => {
    const scopesOf = (scopes?: ('notify' | 'panel' | 'metrics')[]) =>
      newToken(1, { name: 'x', ...(scopes && { scopes }) }, 'cli', at).record.scopes;
    expect(scopesOf()).toEqual(['notify', 'panel', 'metrics']);
    expect(scopesOf([])).toEqual(['notify', 'panel', 'metrics']);
    expect(scopesOf(['metrics', 'notify'])).toEqual(['notify', 'metrics']);
  });

  test('an allow-list is kept in its canonical form', () => {
    const allowFrom = ['10.0.0.5', '10.0.0.0/08', 'FD00:0::/8', '::ffff:10.0.0.1', '0.0.0.0/0', '::/0'];
    expect(newToken(1, { name: 'x', allowFrom }, 'cli', at).record.allowFrom).toEqual([
      '10.0.0.5',
      '10.0.0.0/8',
      'fd00::/8',
      '10.0.0.1',
      '0.0.0.0/0',
      '::/0',
    ]);
  });

  test.each([
    '',
    'localhost',
    '10.0.0',
    '10.0.0.0/33',
    '::/129',
    '10.0.0.0/',
    '10.0.0.1-10.0.0.2',
    '::ffff:10.0.0.0/104',
  ])('the allow-list entry "%s" is refused by its place', (entry) => {
    const make = () => newToken(1, { name: 'x', allowFrom: ['10.0.0.1', entry] }, 'cli', at);
    expect(make).toThrow(/^allowFrom\[1\]: /);
  });

  test('a token may be in a URL only with the scope notify alone', () => {
    const make = (scopes?: ('notify' | 'panel')[]) =>
      newToken(1, { name: 'x', allowInUrl: true, ...(scopes && { scopes }) }, 'cli', at).record;
    expect(make(['notify']).allowInUrl).toBe(true);
    for (const scopes of [['panel'], ['notify', 'panel'], [], undefined] as const)
      expect(() => make(scopes && [...scopes])).toThrow(/^allowInUrl: .*notify/);
    expect(newToken(1, { name: 'x' }, 'cli', at).record.allowInUrl).toBe(false);
  });

  test.each(['2026-11-01T00:00:00Z', '2020-01-01T00:00:00Z', '2026-12-31T23:59:60Z', 'never'])(
    'the expiry %s is refused',
    (expiresAt) => expect(() => newToken(1, { name: 'x', expiresAt }, 'cli', at)).toThrow(/expiresAt/),
  );
});

test('a change holds what was named and nothing else', () => {
  expect(tokenChange({}, at)).toEqual({});
  expect(tokenChange({ name: ' new ', scopes: [], rate: null, expiresAt: null, allowFrom: [] }, at)).toEqual({
    name: 'new',
    scopes: ['notify', 'panel', 'metrics'],
    rate: null,
    expiresAt: null,
    allowFrom: [],
  });
});

test('a key reaches up to its own role, and a token to none', () => {
  const key = { kind: 'key', tenant: 1, id: 'k', name: 'k', role: 'admin' } as const;
  for (const role of ['viewer', 'member', 'admin'] as const)
    expect(() => assertMayGrantRole(key, role)).not.toThrow();
  expect(() => assertMayGrantRole(key, 'owner')).toThrow('forbidden');
  const token = {
    kind: 'token',
    tenant: 1,
    id: 't',
    name: 't',
    scopes: [],
    rate: null,
    panelId: null,
    allowInUrl: false,
  } as const;
  expect(() => assertMayGrantRole(token, 'viewer')).toThrow('forbidden');
});
