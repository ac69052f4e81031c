import { expect, test } from 'vitest';
import { ApiError } from '#client/api-error.ts';
import { parseConfiguration } from './file.ts';
import { planOf } from './plan.ts';
import { applyPlan } from './server-side.ts';

const known = {
  id: 's1',
  name: 'databases',
  q: 'host:db-*',
  createdAt: '2026-11-20T10:00:00.000Z',
  createdBy: 'a',
};
const current = { levels: [], panels: [], rules: [], searches: [known], tokens: [], channels: [] };
const file = await parseConfiguration(
  'version: 1\nsearches: [{ name: databases, q: "host:new-*" }]\n',
  'f.yaml',
);

/** Applies the file to a server that answers the first saves of a search with these errors. */
async function apply(...errors: ApiError[]) {
  const saved: unknown[] = [];
  const request = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    if (method === 'POST') {
      const error = errors.shift();
      if (error) throw error;
      saved.push(body);
    }
    return (path === '/api/panels' ? { panels: [] } : {}) as T;
  };
  const work = applyPlan({ request }, planOf(file.configuration, current), { file, prune: false });
  const error: unknown = await work.then(
    () => undefined,
    (thrown) => thrown,
  );
  return { saved, message: error instanceof Error ? error.message : undefined };
}

test('a changed search that cannot be saved is again what it was', async () => {
  expect(await apply()).toEqual({ saved: [{ name: 'databases', q: 'host:new-*' }], message: undefined });
  expect(await apply(new ApiError(0, 'the connection broke'))).toEqual({
    saved: [{ name: 'databases', q: 'host:db-*' }],
    message: 'the connection broke',
  });
});

test('a search that is lost is written out', async () => {
  const away = new ApiError(0, 'the connection broke');
  expect((await apply(away, away)).message).toBe('the search "databases" is deleted; it was: host:db-*');
  const taken = new ApiError(409, 'the name is taken', { code: 'conflict' });
  expect((await apply(away, taken)).message).toBe('the connection broke');
});
