import { expect, test } from 'vitest';
import type { PushAttempt } from '#core/push-devices.ts';
import { createOutbound } from '#outbound/outbound.ts';
import type { OutgoingNotification } from './message.ts';
import { type PushTarget, sendPush } from './push.ts';
import { derivePushKeys } from './push-encryption.ts';

const notification: OutgoingNotification = {
  ...{ id: 'n', tenant: 't', receivedAt: 0, title: 'Disk full', message: '', level: 'error', rank: 40 },
  ...{ ip: null, host: null, key: null, url: null, ttl: 60_000 },
};
const keys = {
  p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
  auth: 'BTBZMqHH6r4Tts7J_aSIgg',
};
const target = (id: string, more: Partial<PushTarget> = {}): PushTarget => ({
  ...{ id, name: id, isFailing: false, hasIt: false },
  subscription: { endpoint: `https://push.example.org/${id}`, keys },
  ...more,
});

/** Sends to these; `answers`: of each device, the status of its next requests, then 201. */
async function attempt(
  targets: readonly PushTarget[],
  answers: Record<string, number[]> = {},
  signal = AbortSignal.any([]),
) {
  const sent: string[] = [];
  const recorded: PushAttempt[] = [];
  const removed: string[] = [];
  let [running, most] = [0, 0];
  const outbound = {
    ...createOutbound([]),
    async request({ url, headers }: { url: string; headers?: Readonly<Record<string, string>> }) {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      const id = url.split('/').at(-1) ?? '';
      sent.push(`${id} ${headers?.ttl} ${headers?.topic}`);
      return { status: answers[id]?.shift() ?? 201, headers: {}, body: '' };
    },
  };
  const audience = {
    ...{ targets, keys: derivePushKeys('k'), contact: undefined },
    record: async (attempts: readonly PushAttempt[]) => void recorded.push(...attempts),
    remove: async (id: string) => void removed.push(id),
  };
  const result = await sendPush(audience, notification, { outbound, now: () => 0, signal });
  return { result, sent, recorded, removed, most };
}

test('a device that has the notification from an earlier attempt is left out', async () => {
  const targets = [target('a', { hasIt: true }), target('b')];
  const { result, sent, recorded } = await attempt(targets);
  expect(result).toEqual({ outcome: 'delivered', answer: 'sent to 2 of 2 devices' });
  // Kept for an hour at least; without a key it takes nothing's place.
  expect(sent).toEqual(['b 3600 undefined']);
  expect(recorded).toEqual([{ id: 'b', error: null }]);
  expect((await attempt([target('a', { hasIt: true })])).result.outcome).toBe('delivered');
});

test('when the server stops, those that did not get it are tried again at the next start', async () => {
  const stopping = AbortSignal.abort(new Error('the server stops'));
  const targets = [target('a', { hasIt: true }), target('b')];
  expect((await attempt(targets, { b: [503, 503] }, stopping)).result.outcome).toBe('retry');
});

test('all refuse: it fails; all are gone: it fails for good; one of another key of the server is named', async () => {
  const both = [target('a'), target('b')];
  const refused = await attempt(both, { a: [403], b: [413] });
  expect(refused.result).toMatchObject({ outcome: 'failed', isFinal: false });
  expect(refused.recorded).toEqual([
    { id: 'a', error: 'answered 403' },
    { id: 'b', error: 'answered 413' },
  ]);
  const gone = await attempt(both, { a: [404], b: [410] });
  expect(gone).toMatchObject({
    result: { outcome: 'failed', isFinal: true },
    removed: ['a', 'b'],
    recorded: [],
  });
  const unreadable = await attempt([target('a', { subscription: undefined }), target('b')]);
  expect(unreadable.result.answer).toContain('not to a: it was added with another key of the server');
});

test('a hundred devices are sent to a few at a time, and nobody is tried twice when nobody got it', async () => {
  const targets = Array.from({ length: 100 }, (_, i) => target(`${i}`));
  const { result, sent, most } = await attempt(
    targets,
    Object.fromEntries(targets.map(({ id }) => [id, [503]])),
  );
  expect(result.outcome).toBe('retry');
  expect([sent.length, most]).toEqual([100, 10]);
});
