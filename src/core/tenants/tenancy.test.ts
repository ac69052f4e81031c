import { expect, test } from 'vitest';
import type { Directory, PanelRecord } from './directory.ts';
import { Tenancy } from './tenancy.ts';

const panelNamed = (name: string): PanelRecord => ({
  id: name,
  name,
  kind: 'screen',
  topic: name,
  tags: [],
  location: null,
  display: {},
  createdAt: 0,
  lastSeenAt: null,
  cursor: null,
  client: null,
  address: null,
});

/** A directory of one tenant; `held` makes answers about its panels wait, `heldRecord` those about its record. */
function createWorld() {
  const stored: PanelRecord[] = [];
  let reads = 0;
  let changed = 1;
  let held: Promise<void> | undefined;
  let heldRecord: Promise<void> | undefined;
  const directory = {
    changedSince: async (revision: number) => ({
      epoch: 'first',
      revision: changed,
      tenants: changed > revision ? [1] : [],
    }),
    tenants: {
      get: async () => {
        // A pool of connections: the database may see this statement after those that were sent later.
        await heldRecord;
        return { id: 1, changed, rulesRevision: 0 };
      },
    },
    levels: { list: async () => [] },
    channels: { list: async () => [] },
    onCall: { list: async () => [] },
    members: { roles: async () => new Map() },
    rules: { set: async () => ({ revision: 0, rules: [] }) },
    panels: {
      list: async () => {
        reads += 1;
        const found = [...stored];
        await held;
        return found;
      },
    },
  } as unknown as Directory;
  const tenancy = new Tenancy({ directory, onRuleError: () => undefined });
  /** As another node does it. */
  const registerElsewhere = (name: string) => {
    stored.push(panelNamed(name));
    changed += 1;
  };
  const register = (name: string) => {
    registerElsewhere(name);
    tenancy.addPanel(1, panelNamed(name));
  };
  const remove = (name: string) => {
    stored.splice(
      stored.findIndex((panel) => panel.name === name),
      1,
    );
    changed += 1;
  };
  const hold = () => {
    let letGo = () => {};
    held = new Promise((resolve) => {
      letGo = resolve;
    });
    return () => {
      held = undefined;
      letGo();
    };
  };
  const holdRecord = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    heldRecord = promise;
    return () => {
      heldRecord = undefined;
      resolve();
    };
  };
  const names = async () => [...(await tenancy.get(1)).panels.keys()];
  return { tenancy, register, registerElsewhere, remove, hold, holdRecord, names, reads: () => reads };
}

test('a panel that registers is known at once, and the others are not read again', async () => {
  const { tenancy, register, names, reads } = createWorld();
  await tenancy.get(1);
  for (let i = 0; i < 100; i++) register(`p${i}`);
  expect(await names()).toHaveLength(100);
  expect(reads()).toBe(1);
});

test('a panel that registered on another node is found at once', async () => {
  const { tenancy, registerElsewhere, names } = createWorld();
  expect(await tenancy.findPanel(1, 'wall')).toBeUndefined();
  registerElsewhere('wall');
  expect(await names()).toEqual([]);
  expect(await tenancy.findPanel(1, 'wall')).toMatchObject({ id: 'wall' });
});

test('a change by another node during the first read is not lost, and followers get it', async () => {
  const { tenancy, registerElsewhere, hold, names } = createWorld();
  await tenancy.poll();
  const changes: number[] = [];
  tenancy.onChange((tenant) => changes.push(tenant));
  const release = hold();
  const first = tenancy.get(1);
  // The panels have been read, and their answer is on its way.
  await new Promise(setImmediate);
  registerElsewhere('wall');
  const polled = tenancy.poll();
  release();
  await Promise.all([first, polled]);
  expect(tenancy.peek(1)?.panels.has('wall')).toBe(true);
  expect(changes).toEqual([1]);
  registerElsewhere('second wall');
  await tenancy.poll();
  expect(await names()).toEqual(['wall', 'second wall']);
  expect(changes).toEqual([1, 1]);
});

test('a record that the database reads last never makes older panels look current', async () => {
  const { tenancy, registerElsewhere, holdRecord, names } = createWorld();
  await tenancy.poll();
  const release = holdRecord();
  const first = tenancy.get(1);
  await new Promise(setImmediate);
  registerElsewhere('wall');
  release();
  await first;
  await tenancy.poll();
  expect(await names()).toEqual(['wall']);
});

test('a panel that registers while its tenant is being read stays known', async () => {
  const { tenancy, register, hold, names } = createWorld();
  await tenancy.get(1);
  const letGo = hold();
  const refreshed = tenancy.refresh(1);
  register('early');
  expect(await names()).toEqual(['early']);
  letGo();
  await refreshed;
  expect(await names()).toEqual(['early']);
});

test('with a new epoch nothing stays that was read before: ids may mean others, and revisions come again', async () => {
  let database = { epoch: 'first', changed: 7, name: 'acme', revokedAt: null as number | null };
  const directory = {
    changedSince: async (revision: number) => {
      const { epoch, changed } = database;
      return changed > revision
        ? { epoch, revision: changed, tenants: [1] }
        : { epoch, revision, tenants: [] };
    },
    credentials: { find: async () => ({ tenant: 1, revokedAt: database.revokedAt }) },
    tenants: { get: async () => ({ ...database, id: 1, rulesRevision: 0 }) },
    levels: { list: async () => [] },
    channels: { list: async () => [] },
    onCall: { list: async () => [] },
    members: { roles: async () => new Map() },
    rules: { set: async () => ({ revision: 0, rules: [] }) },
    panels: { list: async () => [] },
  } as unknown as Directory;
  const tenancy = new Tenancy({ directory, onRuleError: () => undefined });
  const known = async () => [
    (await tenancy.get(1)).record.name,
    (await tenancy.findCredential('token'))?.revokedAt,
  ];
  await tenancy.poll();
  expect(await known()).toEqual(['acme', null]);
  database = { epoch: 'second', changed: 5, name: 'globex', revokedAt: 1 };
  await tenancy.poll();
  expect(await known()).toEqual(['globex', 1]);
  // Changes with revisions that the first epoch had, too, are seen.
  database = { ...database, changed: 6, name: 'renamed', revokedAt: 2 };
  await tenancy.poll();
  expect(await known()).toEqual(['renamed', 2]);
  expect(tenancy.epoch).toBe('second');
});

test('a panel that was deleted does not come back with a read that began before it registered', async () => {
  const { tenancy, register, remove, hold, names } = createWorld();
  await tenancy.get(1);
  const letGo = hold();
  const before = tenancy.refresh(1);
  register('gone');
  remove('gone');
  const after = tenancy.refresh(1);
  letGo();
  await Promise.all([before, after]);
  expect(await names()).toEqual([]);
});

test('many changes at once are read together, and each caller gets what it changed', async () => {
  const { tenancy, registerElsewhere, reads } = createWorld();
  await tenancy.get(1);
  const seen = await Promise.all(
    Array.from({ length: 50 }, async (_, i) => {
      registerElsewhere(`p${i}`);
      const { panels } = await tenancy.refresh(1);
      return panels.has(`p${i}`);
    }),
  );
  expect(seen).not.toContain(false);
  expect(reads()).toBeLessThan(5);
});
