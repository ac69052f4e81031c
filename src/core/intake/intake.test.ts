import { expect, onTestFinished, test, vi } from 'vitest';
import { ruleSpecWith } from '#test/support/rule-spec.ts';
import type { NotificationDraft } from '../log/log.ts';
import { compileRules } from '../routing/rules.ts';
import { Throttle } from '../routing/throttle.ts';
import type { Tenancy } from '../tenants/tenancy.ts';
import { Intake } from './intake.ts';
import { checkFields } from './notification.ts';

const levels = new Map([['info', { rank: 20, durationMs: 30_000 }]]);
const snapshot = { levels, router: compileRules({ revision: 1, rules: [] }, { levels }) };
const sender = {
  kind: 'token',
  tenant: 1,
  id: 't',
  name: 'ci',
  scopes: ['notify'],
  rate: null,
  panelId: null,
  allowInUrl: false,
} as const;
const fields = checkFields({ title: 'T', message: 'M' } as Parameters<typeof checkFields>[0]);

/** An intake whose log stores everything, and where what happens after that fails. */
function failingAfterStored(failing: { publish?: () => void; onStored?: () => void }) {
  const stored: string[] = [];
  const errors: unknown[] = [];
  const intake = new Intake({
    history: {
      async append(_tenant: number, draft: NotificationDraft) {
        stored.push(draft.id);
        return { kind: 'stored', id: draft.id, entries: [] };
      },
      findRepeat: async () => undefined,
      find: async () => undefined,
    },
    bus: { publish: failing.publish ?? (() => undefined) },
    directory: {} as never,
    tenancy: { peek: () => snapshot } as unknown as Tenancy,
    throttle: new Throttle(),
    expect: async () => undefined,
    now: () => 1_000_000,
    onStored: failing.onStored ?? (() => undefined),
    isRunning: () => false,
    onError: (error) => errors.push(error),
  });
  return { intake, stored, errors };
}

/** An intake whose database may be silent, on a repeat of an alarm that is escalated. */
function onSilent(problem?: string, isRunning: () => boolean | Promise<boolean> = () => false) {
  const asked: string[] = [];
  const silent = (what: string) => () => {
    asked.push(what);
    return new Promise<never>(() => undefined);
  };
  const router = compileRules(
    { revision: 1, rules: [ruleSpecWith({ id: 'r', then: { escalate: [{ afterMs: 60_000 }] } })] },
    { levels },
  );
  const intake = new Intake({
    history: {
      append: async () => ({ kind: 'changed', id: 'step', step: 1 }),
      findRepeat: async () => undefined,
      find: silent('find'),
    },
    bus: { publish: () => undefined },
    directory: {} as never,
    tenancy: { peek: () => ({ levels, router }) } as unknown as Tenancy,
    throttle: new Throttle(),
    expect: silent('expect'),
    problem: () => problem,
    now: () => 1_000_000,
    onStored: () => undefined,
    isRunning,
    onError: () => undefined,
  });
  return { intake, asked };
}

const alarm = { ...fields, key: 'k' };
const expecting = { ...alarm, expect: { everyMs: 60_000, level: 'error' } };

test.each([
  ['escalates', alarm],
  ['expects the next one', expecting],
])('while the database is known to be silent, one that %s is refused before it reads', async (_, given) => {
  const { intake, asked } = onSilent('PostgreSQL has not answered');
  await expect(intake.accept(sender, '127.0.0.1', given, null)).rejects.toMatchObject({
    ...{ code: 'unavailable', retryAfterSeconds: 1 },
    message: 'not stored: PostgreSQL has not answered',
  });
  expect(asked).toEqual([]);
});

test('while the database is known to be silent, a failed look at running work ends nothing but the request', async () => {
  const unhandled = vi.fn();
  process.on('unhandledRejection', unhandled);
  onTestFinished(() => void process.off('unhandledRejection', unhandled));
  const { intake } = onSilent('PostgreSQL has not answered', () =>
    Promise.reject(new Error('no connection')),
  );
  await expect(intake.accept(sender, '127.0.0.1', alarm, null)).rejects.toMatchObject({
    code: 'unavailable',
  });
  await new Promise(setImmediate);
  expect(unhandled).not.toHaveBeenCalled();
});

test.each([
  ['escalates', 'find', alarm],
  ['expects the next one', 'expect', expecting],
])('one that %s is refused within five seconds when the database falls silent', async (_, what, given) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { intake, asked } = onSilent();
  const answer = intake.accept(sender, '127.0.0.1', given, null).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await answer).toMatchObject({ code: 'unavailable', retryAfterSeconds: 1 });
  expect(asked).toEqual([what]);
});

const fail = () => {
  throw new Error('a bug');
};

test.each([
  ['telling panels', { publish: fail }],
  ['counting it', { onStored: fail }],
])('a stored notification is answered as stored although %s fails', async (_, failing) => {
  const { intake, stored, errors } = failingAfterStored(failing);
  const { id } = await intake.accept(sender, '127.0.0.1', fields, null);
  expect(stored).toEqual([id]);
  expect(errors).toEqual([new Error('a bug')]);
});
