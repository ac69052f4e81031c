import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Rate } from '#core/tenants/tenants.ts';
import { bytesOf, IntakeDesk } from '../support/intake.ts';
import type { Answer, CallOptions } from '../support/server.ts';

/** The service's clock stands still unless a test moves it, so that buckets fill when the test says so. */
const pass = (ms: number) => vi.setSystemTime(Date.now() + ms);

let desk: IntakeDesk;
beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  desk = await IntakeDesk.open({ BELFRY_RATE_TOKEN: '2:4', BELFRY_RATE_TENANT: '5:10' });
});
afterAll(async () => {
  await desk.close();
  vi.useRealTimers();
});

const sent = { json: { title: 'T', message: 'M' } };
const critical = { json: { title: 'T', message: 'M', level: 'critical' } };

let tenants = 0;
/** A tenant of its own for each test, so that no test meets another's buckets. */
async function newTenant() {
  const tenant = `t${++tenants}`;
  const token = (rate: Rate | 'off' | null = null) => desk.server.token({ tenant, rate });
  const key = await desk.server.key('admin', tenant);
  const head = async () => {
    const { json } = await desk.server.call('GET', '/api/history?limit=1', { token: key });
    return (json.notifications[0]?.position ?? 0) as number;
  };
  return { tenant, token, key, head };
}

const post = (token: string, options: CallOptions = sent) => desk.post({ ...options, token });
async function statuses(count: number, token: string, options: CallOptions = sent): Promise<number[]> {
  const found: number[] = [];
  for (let i = 0; i < count; i++) found.push((await post(token, options)).status);
  return found;
}
const oks = (count: number) => Array<number>(count).fill(200);

/** `"token";q=4;w=2, "tenant";q=10;w=2` as objects. */
function limitsOf({ headers }: Answer, name: string): Record<string, Record<string, number>> {
  const parts = (headers.get(name) ?? '').split(', ').filter((part) => part !== '');
  return Object.fromEntries(
    parts.map((part) => {
      const [policy = '', ...pairs] = part.split(';');
      expect(policy).toMatch(/^"[a-z]+"$/);
      return [
        policy.slice(1, -1),
        Object.fromEntries(pairs.map((pair) => [pair.split('=')[0], Number(pair.split('=')[1])])),
      ];
    }),
  );
}

describe('a token', () => {
  it('may send its burst at once, then as much as its rate', async () => {
    const { token } = await newTenant();
    const own = await token();
    expect(await statuses(6, own)).toEqual([...oks(4), 429, 429]);
    pass(499);
    expect(await statuses(1, own)).toEqual([429]);
    pass(1);
    expect(await statuses(2, own)).toEqual([200, 429]);
    pass(60_000);
    expect(await statuses(5, own)).toEqual([...oks(4), 429]);
  });

  it('beyond it: 429, exactly this body, and Retry-After that is true', async () => {
    const { token } = await newTenant();
    const own = await token({ perSecond: 0.1, burst: 1 });
    await post(own);
    const refused = await post(own);
    expect(refused.status).toBe(429);
    expect(refused.json).toEqual({ error: 'rate limit exceeded' });
    expect(refused.headers.get('retry-after')).toBe('10');
    pass(10_000);
    expect((await post(own)).status).toBe(200);
  });

  it('has a bucket of its own', async () => {
    const { token } = await newTenant();
    const [first, second] = [await token(), await token()];
    expect(await statuses(5, first)).toEqual([...oks(4), 429]);
    expect(await statuses(5, second)).toEqual([...oks(4), 429]);
  });

  it('may have a rate of its own, or none', async () => {
    const { token } = await newTenant();
    expect(await statuses(3, await token({ perSecond: 1, burst: 2 }))).toEqual([200, 200, 429]);
    expect(await statuses(8, await token('off'))).toEqual(oks(8));
  });
});

describe('a tenant', () => {
  it('has one bucket for all its tokens, and Retry-After speaks of that one', async () => {
    const { token } = await newTenant();
    expect(await statuses(7, await token('off'))).toEqual(oks(7));
    const own = await token();
    expect(await statuses(3, own)).toEqual(oks(3));
    const refused = await post(own);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    pass(200);
    expect(await statuses(2, own)).toEqual([200, 429]);
  });

  it('is not slowed by another tenant', async () => {
    const [loud, quiet] = [await newTenant(), await newTenant()];
    expect((await statuses(12, await loud.token('off'))).filter((status) => status === 429)).toHaveLength(2);
    expect(await statuses(4, await quiet.token())).toEqual(oks(4));
  });

  it('may have a rate of its own, or none, from the moment it is set', async () => {
    const { tenant, token, key } = await newTenant();
    const own = await token('off');
    const set = (rate: unknown) => desk.server.call('PATCH', '/api/tenant', { token: key, json: { rate } });
    expect((await set({ perSecond: 1, burst: 2 })).status).toBe(200);
    expect(await statuses(3, own)).toEqual([200, 200, 429]);
    await set('off');
    expect(await statuses(15, own)).toEqual(oks(15));
    expect(tenant).toMatch(/^t/);
  });

  it('loses nothing to what its tokens’ own buckets refuse', async () => {
    const { token } = await newTenant();
    const noisy = await token({ perSecond: 0.001, burst: 1 });
    await statuses(30, noisy);
    expect(await statuses(9, await token('off'))).toEqual(oks(9));
  });
});

describe('critical', () => {
  it.each<[string, CallOptions]>([
    ['as JSON', critical],
    [
      'as JSON with escapes',
      {
        body: '{"title":"T","message":"M","level":"\\u0063r\\u0069tical"}',
        headers: { 'content-type': 'application/json' },
      },
    ],
    ['as JSON in capitals and spaces', { json: { title: 'T', message: 'M', level: ' CRITICAL ' } }],
    ['as a header', { headers: { 'x-title': 'T', 'x-message': 'M', 'x-level': 'critical' } }],
    ['as a header beside JSON', { json: { title: 'T', message: 'M' }, headers: { 'x-level': 'Critical' } }],
    [
      'as an encoded word',
      { headers: { 'x-title': bytesOf('é'), 'x-message': 'M', 'x-level': '=?utf-8?B?Y3JpdGljYWw=?=' } },
    ],
    [
      'as a form',
      {
        body: 'title=T&message=M&level=critical',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      },
    ],
    [
      'as a form with escapes',
      {
        body: 'title=T&message=M&level=%63ritic%61l',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      },
    ],
    [
      'as the text under a header',
      { body: 'on fire', headers: { 'content-type': 'text/plain', 'x-title': 'T', 'x-level': 'critical' } },
    ],
  ])('%s has buckets of its own, of the same size', async (_, options) => {
    const { token } = await newTenant();
    const own = await token();
    expect(await statuses(5, own)).toEqual([...oks(4), 429]);
    expect(await statuses(5, own, options)).toEqual([...oks(4), 429]);
    expect(await statuses(1, own)).toEqual([429]);
  });

  it('noise of a whole tenant does not lock it out', async () => {
    const { token } = await newTenant();
    expect((await statuses(11, await token('off'))).at(-1)).toBe(429);
    expect(await statuses(4, await token(), critical)).toEqual(oks(4));
  });

  it('leaves the usual bucket as it was', async () => {
    const { token } = await newTenant();
    const own = await token();
    expect(await statuses(5, own, critical)).toEqual([...oks(4), 429]);
    expect(await statuses(5, own)).toEqual([...oks(4), 429]);
  });

  it.each<[string, CallOptions]>([
    ['only in the text', { json: { title: 'critical', message: 'critical' } }],
    [
      'in a header that JSON overrules',
      { json: { title: 'T', message: 'M', level: 'info' }, headers: { 'x-level': 'critical' } },
    ],
    ['in a notification that is not valid', { json: { message: 'M', level: 'critical' } }],
  ])('%s is not critical: the usual bucket pays', async (_, options) => {
    const { token, head } = await newTenant();
    const own = await token();
    await statuses(4, own);
    const before = await head();
    expect(await statuses(2, own, options)).toEqual([429, 429]);
    expect(await head()).toBe(before);
    expect(await statuses(4, own, critical)).toEqual(oks(4));
  });
});

describe('what is paid for', () => {
  it.each<[number, CallOptions]>([
    [400, { json: { title: '' } }],
    [413, { body: Buffer.alloc(65_537, 0x20), headers: { 'content-type': 'application/json' } }],
    [415, { body: '<a/>', headers: { 'content-type': 'application/xml' } }],
  ])('a %i costs as much as a notification', async (status, options) => {
    const { token, head } = await newTenant();
    const own = await token();
    expect(await statuses(5, own, options)).toEqual([...Array<number>(4).fill(status), 429]);
    expect(await head()).toBe(0);
  });

  it('a refusal by the limit stores nothing and registers no level', async () => {
    const { token, key, head } = await newTenant();
    const own = await token();
    await statuses(4, own);
    await statuses(3, own, { json: { title: 'T', message: 'M', level: 'brand-new' } });
    expect(await head()).toBe(4);
    const { json } = await desk.server.call('GET', '/api/levels', { token: key });
    expect(JSON.stringify(json)).not.toContain('brand-new');
  });
});

describe('RateLimit and RateLimit-Policy', () => {
  it('name each limit’s quota and window, what remains, and when it is full', async () => {
    const { token } = await newTenant();
    const own = await token();
    const first = await post(own);
    expect(limitsOf(first, 'ratelimit-policy')).toEqual({ token: { q: 4, w: 2 }, tenant: { q: 10, w: 2 } });
    expect(limitsOf(first, 'ratelimit')).toEqual({ token: { r: 3, t: 1 }, tenant: { r: 9, t: 1 } });
    await statuses(3, own);
    const refused = await post(own);
    expect(limitsOf(refused, 'ratelimit')).toEqual({ token: { r: 0, t: 1 }, tenant: { r: 6, t: 1 } });
    expect(limitsOf(refused, 'ratelimit-policy')).toEqual({ token: { q: 4, w: 2 }, tenant: { q: 10, w: 2 } });
  });

  it('tell of critical’s own buckets on what is critical', async () => {
    const { token } = await newTenant();
    const own = await token();
    await statuses(3, own);
    expect(limitsOf(await post(own, critical), 'ratelimit')).toMatchObject({
      token: { r: 3 },
      tenant: { r: 9 },
    });
  });

  it.each<[number, CallOptions & { scopes?: 'none' }]>([
    [200, sent],
    [400, { json: {} }],
    [401, { ...sent, token: 'nonsense' }],
    [403, { ...sent, scopes: 'none' }],
    [409, { ...sent, headers: { 'idempotency-key': 'taken' } }],
    [413, { body: Buffer.alloc(65_537, 0x20), headers: { 'content-type': 'application/json' } }],
    [415, { body: 'x', headers: { 'content-type': 'image/png' } }],
  ])('are on a %i', async (status, { scopes, ...options }) => {
    const { tenant, token } = await newTenant();
    const own = scopes ? await desk.server.token({ tenant, scopes: ['metrics'], rate: null }) : await token();
    if (status === 409)
      await post(own, { json: { title: 'other', message: 'M' }, headers: { 'idempotency-key': 'taken' } });
    const answer = await desk.post({ token: own, ...options });
    expect(answer.status).toBe(status);
    const policies = status === 401 ? ['auth'] : ['token', 'tenant'];
    expect(Object.keys(limitsOf(answer, 'ratelimit'))).toEqual(policies);
    expect(Object.keys(limitsOf(answer, 'ratelimit-policy'))).toEqual(policies);
  });

  it('leave out a limit that is off', async () => {
    const { token } = await newTenant();
    expect(Object.keys(limitsOf(await post(await token('off')), 'ratelimit'))).toEqual(['tenant']);
  });
});
