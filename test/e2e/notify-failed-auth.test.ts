import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { mintSecret } from '#core/people/secrets.ts';
import { IntakeDesk } from '../support/intake.ts';

const pass = (ms: number) => vi.setSystemTime(Date.now() + ms);

/** The default limits; the proxy header lets each test come from an address of its own. */
let desk: IntakeDesk;
beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  desk = await IntakeDesk.open({ BELFRY_TRUSTED_PROXIES: '127.0.0.1' });
});
afterAll(async () => {
  await desk.close();
  vi.useRealTimers();
});

const json = { title: 'T', message: 'M' };
let addresses = 0;
/** Posts from one address that no other test uses. */
function newCaller() {
  const from = `198.51.100.${++addresses}`;
  return (token: string | undefined) => desk.post({ token, json, headers: { 'x-forwarded-for': from } });
}
type Caller = ReturnType<typeof newCaller>;

async function statuses(count: number, call: Caller, token: () => string | undefined): Promise<number[]> {
  const found: number[] = [];
  for (let i = 0; i < count; i++) found.push((await call(token())).status);
  return found;
}
const unknown = () => mintSecret('token').text;
const times = (count: number, status: number) => Array<number>(count).fill(status);

describe('failed authentication', () => {
  it.each([
    ['an unknown token', unknown],
    ['a malformed one', () => 'nonsense'],
    ['none', () => undefined],
  ])('with %s: 30 times a 401, then 429, then one more every two seconds', async (_, token) => {
    const call = newCaller();
    expect(await statuses(32, call, token)).toEqual([...times(30, 401), 429, 429]);
    pass(1_999);
    expect(await statuses(1, call, token)).toEqual([429]);
    pass(1);
    expect(await statuses(2, call, token)).toEqual([401, 429]);
    pass(120_000);
    expect(await statuses(31, call, token)).toEqual([...times(30, 401), 429]);
  });

  it('beyond the limit gets an error with Retry-After and the limit’s own headers', async () => {
    const call = newCaller();
    const first = await call('nonsense');
    expect(first.headers.get('ratelimit-policy')).toBe('"auth";q=30;w=60');
    expect(first.headers.get('ratelimit')).toBe('"auth";r=29;t=2');
    await statuses(29, call, unknown);
    const refused = await call('nonsense');
    expect(refused.json).toEqual({
      error: 'rate limit exceeded: too many failed authentications from this address',
    });
    expect(refused.headers.get('retry-after')).toBe('2');
    expect(refused.headers.get('ratelimit')).toBe('"auth";r=0;t=2');
  });

  it('is counted for each address', async () => {
    const [first, second] = [newCaller(), newCaller()];
    expect((await statuses(31, first, unknown)).at(-1)).toBe(429);
    expect(await statuses(1, second, unknown)).toEqual([401]);
  });

  it('is counted over every route together', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.99', authorization: `Bearer ${unknown()}` };
    const paths = ['/api/history', '/tenant-metrics', '/api/panels', '/api/rules'];
    const found: number[] = [];
    for (let i = 0; i < 31; i++) {
      const answer = await fetch(desk.server.url + paths[i % paths.length], { headers });
      expect(await answer.json()).toEqual({ error: expect.any(String) });
      found.push(answer.status);
    }
    expect(found).toEqual([...times(30, 401), 429]);
  });

  it('beyond the limit costs few look-ups, and none of a token that was wrong just now', async () => {
    const call = newCaller();
    const wrong = unknown();
    await statuses(30, call, () => wrong);
    const find = vi.spyOn(desk.server.running.directory.credentials, 'find');
    expect(await statuses(5, call, () => wrong)).toEqual(times(5, 429));
    expect(find).not.toHaveBeenCalled();
    expect(await statuses(120, call, unknown)).toEqual(times(120, 429));
    expect(find).toHaveBeenCalledTimes(100);
    find.mockRestore();
  });
});

describe('what is no failed authentication', () => {
  it('a good token, however often', async () => {
    const call = newCaller();
    const token = await desk.server.token();
    expect(await statuses(40, call, () => token)).toEqual(times(40, 200));
  });

  it('a good token without the scope', async () => {
    const call = newCaller();
    const token = await desk.server.token({ scopes: ['metrics'] });
    expect(await statuses(40, call, () => token)).toEqual(times(40, 403));
  });
});

describe('a token that the server has not seen since its start', () => {
  it('is not locked out by a wrong token in a loop behind the same address', async () => {
    const call = newCaller();
    const wrong = unknown();
    const tokens = await Promise.all(Array.from({ length: 18 }, () => desk.server.token()));
    expect((await statuses(40, call, () => wrong)).at(-1)).toBe(429);
    for (const token of tokens) {
      expect(await statuses(2, call, () => token)).toEqual([200, 200]);
      expect(await statuses(3, call, () => wrong)).toEqual(times(3, 429));
    }
  });
});

describe('a token that is known to be good', () => {
  it('is not locked out by the failures of others behind its address', async () => {
    const call = newCaller();
    const token = await desk.server.token();
    expect(await statuses(1, call, () => token)).toEqual([200]);
    expect((await statuses(40, call, unknown)).at(-1)).toBe(429);
    expect(await statuses(5, call, () => token)).toEqual(times(5, 200));
  });

  it('is not locked out either when the configuration changed in between', async () => {
    const call = newCaller();
    const token = await desk.server.token();
    await call(token);
    expect((await statuses(40, call, unknown)).at(-1)).toBe(429);
    await desk.server.call('PUT', '/api/levels/deploy', { token: desk.key, json: { rank: 25 } });
    expect(await statuses(3, call, () => token)).toEqual(times(3, 200));
  });

  it('is refused like any other once it is revoked', async () => {
    const call = newCaller();
    const { json: made } = await desk.server.call('POST', '/api/tokens', {
      token: desk.key,
      json: { name: 'short' },
    });
    await call(made.token);
    expect((await statuses(40, call, unknown)).at(-1)).toBe(429);
    await desk.server.call('DELETE', `/api/tokens/${made.id}`, { token: desk.key });
    expect(await statuses(2, call, () => made.token)).toEqual([429, 429]);
  });
});
