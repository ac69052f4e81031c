import { expect, test } from 'vitest';
import { UsageRecorder } from './usage-recorder.ts';

type BookkeepingDirectory = ConstructorParameters<typeof UsageRecorder>[0];

/** A directory that keeps what is written, except what belongs to a tenant in `failing`. */
function createWorld() {
  const failing = new Set<number>();
  const hits: [tenant: number, id: string, count: number][] = [];
  const touched: string[] = [];
  const touch = (what: string) => async (rows: readonly { readonly tenant: number }[]) => {
    if (rows.some(({ tenant }) => failing.has(tenant))) throw new Error('the disk is full');
    touched.push(what);
  };
  const usage = new UsageRecorder({
    rules: {
      hit: async (tenant: number, rows: readonly { readonly id: string; readonly count: number }[]) => {
        if (failing.has(tenant)) throw new Error('the disk is full');
        for (const { id, count } of rows) hits.push([tenant, id, count]);
      },
    },
    credentials: { touch: touch('credentials') },
    panels: { touch: touch('panels') },
    members: { touch: touch('members') },
  } as unknown as BookkeepingDirectory);
  return { usage, failing, hits, touched };
}

test('hits of other tenants, uses, signs and visits are written when one tenant’s hits cannot be', async () => {
  const { usage, failing, hits, touched } = createWorld();
  for (const tenant of [1, 2, 3]) usage.recordHits(tenant, ['r'], 10);
  usage.recordUse({ tenant: 3, id: 't', at: 10, from: '192.0.2.1' });
  usage.recordContact({ tenant: 3, id: 'p', at: 10, cursor: 0, client: null, address: '192.0.2.1' });
  usage.recordVisit({ tenant: 3, person: 'a', at: 10 });
  failing.add(1);
  await expect(usage.flush()).rejects.toThrow('the disk is full');
  expect(hits).toEqual([
    [2, 'r', 1],
    [3, 'r', 1],
  ]);
  expect(touched).toEqual(['credentials', 'panels', 'members']);

  failing.clear();
  usage.recordHits(1, ['r'], 20);
  await usage.flush();
  expect(hits.slice(2)).toEqual([[1, 'r', 2]]);
});

test('uses that cannot be written keep no sign of a panel back', async () => {
  const { usage, failing, touched } = createWorld();
  usage.recordUse({ tenant: 1, id: 't', at: 10, from: '192.0.2.1' });
  usage.recordContact({ tenant: 2, id: 'p', at: 10, cursor: 0, client: null, address: '192.0.2.1' });
  failing.add(1);
  await expect(usage.flush()).rejects.toThrow('the disk is full');
  expect(touched).toEqual(['panels']);
});

test('everything is written in the order of ids, so that nodes do not lock each other out', async () => {
  const written: string[][] = [];
  const touch = async (rows: readonly { readonly id?: string; readonly person?: string }[]) => {
    written.push(rows.map(({ id, person }) => id ?? person ?? ''));
  };
  const usage = new UsageRecorder({
    rules: { hit: (_: number, rows: { readonly id: string }[]) => touch(rows) },
    credentials: { touch },
    panels: { touch },
    members: { touch },
  } as unknown as BookkeepingDirectory);
  const ids = Array.from({ length: 300 }, (_, i) => `id-${(i * 7) % 300}`);
  for (const id of ids) {
    usage.recordUse({ tenant: 1, id, at: 1, from: '::1' });
    usage.recordContact({ tenant: 1, id, at: 1, cursor: 0, client: null, address: '::1' });
    usage.recordVisit({ tenant: 1, person: id, at: 1 });
    usage.recordHits(1, [id], 1);
  }
  await usage.flush();
  const [hits, ...chunks] = written;
  expect(hits).toEqual([...ids].sort());
  expect(chunks.flat()).toEqual([...ids.sort(), ...ids, ...ids]);
});

test('a contact that is older than what another node has written is not the last one', () => {
  const { usage } = createWorld();
  usage.recordContact({ tenant: 1, id: 'p', at: 10, cursor: 0, client: null, address: '::1' });
  const lastAt = (lastSeenAt: number | null) => usage.lastContact({ id: 'p', lastSeenAt })?.at;
  expect([null, 10, 11].map(lastAt)).toEqual([10, 10, undefined]);
});
