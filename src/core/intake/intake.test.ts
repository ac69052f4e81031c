import { expect, test } from 'vitest';
import type { NotificationDraft } from '../ports.ts';
import { compileRules } from '../routing/compile-rules.ts';
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
    attention: {} as never,
    now: () => 1_000_000,
    onStored: failing.onStored ?? (() => undefined),
    onError: (error) => errors.push(error),
  });
  return { intake, stored, errors };
}

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
