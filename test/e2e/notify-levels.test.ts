import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { IntakeDesk } from '../support/intake.ts';

let desk: IntakeDesk;
beforeAll(async () => {
  desk = await IntakeDesk.open({ BELFRY_RATE_TENANT: 'off' });
});
afterAll(() => desk.close());

const sent = { title: 'T', message: 'M' };

/** The levels of a tenant by name. */
async function levelsOf(
  key: string,
): Promise<Record<string, { rank: number; builtIn: boolean; durationMs: number }>> {
  const { json } = await desk.server.call('GET', '/api/levels', { token: key });
  const levels: { name: string }[] = json.levels ?? json;
  return Object.fromEntries(levels.map(({ name, ...rest }) => [name, rest])) as never;
}

describe('a level nobody knew', () => {
  it('is accepted, and registered with the rank and look of info', async () => {
    expect(await desk.accepted({ json: { ...sent, level: 'Deploy' } })).toMatchObject({
      level: 'deploy',
      rank: 20,
      ttl: 30_000,
    });
    const { deploy, info } = await levelsOf(desk.key);
    expect(deploy).toEqual({ ...info, builtIn: false });
  });

  it('is named in a warning of the answer, the first time', async () => {
    const answer = async (level: string) => (await desk.post({ json: { ...sent, level } })).json;
    expect(await answer('warn')).toEqual({
      ok: true,
      id: expect.any(String),
      warning:
        '"warn" is a new level, with the rank of info; the built-in levels are success, info, warning, error, critical',
    });
    for (const level of ['warn', 'warning'])
      expect(await answer(level)).toEqual({ ok: true, id: expect.any(String) });
  });

  it('is one level however often and in whatever case it is sent, 20 times at once included', async () => {
    const before = Object.keys(await levelsOf(desk.key)).length;
    const names = Array.from({ length: 20 }, (_, i) => (i % 2 ? 'HUSH' : ' hush '));
    const answers = await Promise.all(names.map((level) => desk.post({ json: { ...sent, level } })));
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(20).fill(200));
    expect(Object.keys(await levelsOf(desk.key))).toHaveLength(before + 1);
  });

  it('is registered for its own tenant alone', async () => {
    const token = await desk.server.token({ tenant: 'acme' });
    await desk.post({ token, json: { ...sent, level: 'acme-only' } });
    expect(await levelsOf(desk.key)).not.toHaveProperty('acme-only');
    expect(await levelsOf(await desk.server.key('admin', 'acme'))).toHaveProperty('acme-only');
  });

  it('has the rank it is given afterwards', async () => {
    await desk.post({ json: { ...sent, level: 'page' } });
    await desk.server.call('PUT', '/api/levels/page', {
      token: desk.key,
      json: { rank: 45, durationMs: 7_000 },
    });
    expect(await desk.accepted({ json: { ...sent, level: 'page' } })).toMatchObject({ rank: 45, ttl: 7_000 });
  });

  it('is not registered by a notification that is refused', async () => {
    await desk.refused(400, { json: { ...sent, title: '', level: 'never' } });
    await desk.refused(400, { json: { ...sent, ttl: -1, level: 'never' } });
    expect(await levelsOf(desk.key)).not.toHaveProperty('never');
  });

  it('is a 400 that stores nothing once there are 200 custom ones; known ones go on', async () => {
    const token = await desk.server.token({ tenant: 'full' });
    const key = await desk.server.key('admin', 'full');
    const send = (level: string) => desk.post({ token, json: { ...sent, level } });
    for (let from = 0; from < 200; from += 20) {
      const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => send(`c${from + i}`)));
      expect(answers.every(({ status }) => status === 200)).toBe(true);
    }
    const refused = await send('c200');
    expect(refused.status).toBe(400);
    expect(refused.json.error).toMatch(/^level "c200" is unknown and there are 200 custom levels already/);
    const { json } = await desk.server.call('GET', '/api/history?limit=1', { token: key });
    expect(json.notifications[0].position).toBe(200);
    expect(await levelsOf(key)).not.toHaveProperty('c200');
    for (const level of ['c7', 'critical', 'info']) expect((await send(level)).status).toBe(200);
    await desk.server.call('DELETE', '/api/levels/c7', { token: key });
    expect((await send('c200')).status).toBe(200);
  });

  it('of names that objects have by birth is a level like any other', async () => {
    for (const level of ['constructor', 'hasownproperty', 'valueof', 'tostring', '0']) {
      expect(await desk.accepted({ json: { ...sent, level } })).toMatchObject({ level, rank: 20 });
    }
  });
});
