import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { noTexts } from '#contract/history/fields.ts';
import { levels } from '#test/support/arbitrary-rules.ts';
import { ruleSpecWith } from '#test/support/rule-spec.ts';
import { unavailable } from '../errors.ts';
import type { AppendOutcome, HistoryRecord, NotificationDraft } from '../log/log.ts';
import { compileRules } from '../routing/rules.ts';
import { Throttle } from '../routing/throttle.ts';
import type { Tenancy } from '../tenants/tenancy.ts';
import { Intake } from './intake.ts';
import type { CheckedFields } from './notification.ts';
import type { Sender } from './own-sender.ts';

const sender = { kind: 'token', tenant: 1, id: 't', name: 'ci' } as unknown as Sender;
const fields: CheckedFields = {
  ...noTexts,
  title: 'disk full',
  message: 'm',
  level: 'info',
  ttl: null,
  host: 'db-1',
};

interface Append {
  readonly draft: NotificationDraft;
  readonly settle: { resolve(outcome: AppendOutcome): void; reject(error: unknown): void };
}

/** An intake whose one rule shows one notification an hour; the test decides what becomes of each append. */
function createIntake() {
  const appends: Append[] = [];
  const then = { throttle: { by: ['host' as const], perMs: 3_600_000 } };
  const router = compileRules({ revision: 1, rules: [ruleSpecWith({ id: 'r', then })] }, { levels });
  const intake = new Intake({
    history: {
      append: (_tenant, draft) => {
        const { promise, ...settle } = Promise.withResolvers<AppendOutcome>();
        appends.push({ draft, settle });
        return promise;
      },
      findRepeat: async () => undefined,
      find: async (_tenant, id) => {
        const found = appends.find(({ draft }) => draft.id === id);
        return found && ({ ...found.draft, cleared: null } as unknown as HistoryRecord);
      },
    },
    bus: { publish: () => undefined },
    directory: { levels: {} as never },
    tenancy: { peek: () => ({ router, levels }) } as unknown as Tenancy,
    throttle: new Throttle(),
    expect: async () => undefined,
    now: () => 1_000,
    onStored: () => undefined,
    isRunning: () => false,
    onError: () => undefined,
  });
  const send = async () => (await intake.accept(sender, '192.0.2.1', fields, null)).id;
  const store = (i: number) => {
    const { draft, settle } = appends[i] as Append;
    settle.resolve({ kind: 'stored', id: draft.id, entries: [] });
  };
  return { appends, send, store };
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());
const turn = () => new Promise(setImmediate);

test.each<[string, (append: Append) => void]>([
  ['refused', ({ settle }) => settle.reject(unavailable('the disk is full'))],
  ['a repeat of an earlier one', ({ settle }) => settle.resolve({ kind: 'repeated', id: 'earlier' })],
])('a notification is not counted on one that turns out to be %s', async (_what, end) => {
  const { appends, send, store } = createIntake();
  const first = send().catch(() => undefined);
  const others = [send(), send()];
  await turn();
  expect(appends).toHaveLength(1);
  end(appends[0] as Append);
  await first;
  await turn();
  expect(appends[1]?.draft).toMatchObject({ throttledOn: null });
  store(1);
  await turn();
  expect(appends[2]?.draft).toMatchObject({ throttledOn: appends[1]?.draft.id, throttleCount: 1 });
  store(2);
  await Promise.all(others);
});

test('a notification that waits to be counted is refused when the disk does not answer', async () => {
  const { appends, send, store } = createIntake();
  const first = send();
  const second = expect(send()).rejects.toMatchObject({ code: 'unavailable' });
  await vi.advanceTimersByTimeAsync(3_000);
  await second;
  await expect(send()).rejects.toMatchObject({ code: 'unavailable' });
  store(0);
  expect(await first).toBe(appends[0]?.draft.id);
  const later = send();
  await turn();
  expect(appends[1]?.draft.throttledOn).toBe(appends[0]?.draft.id);
  store(1);
  await later;
});
