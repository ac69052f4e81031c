import { expect, test } from 'vitest';
import { noTexts } from '#contract/history/fields.ts';
import { createOutbound } from '#outbound/outbound.ts';
import type { OutgoingNotification } from '../message.ts';
import { type PushAudience, type PushTarget, payloadOf, sendPush } from './push.ts';
import { derivePushKeys, mostPushBytes } from './push-encryption.ts';

const notification: OutgoingNotification = {
  ...{ id: 'n', tenant: 't', receivedAt: 0, title: 'Disk full', message: '', level: 'error', rank: 40 },
  ...{ ...noTexts, instructions: null, alarm: 'a', state: 'open' as const, ttl: 60_000 },
};
const keys = {
  p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
  auth: 'BTBZMqHH6r4Tts7J_aSIgg',
};
const target = (id: string, more: Partial<PushTarget> = {}): PushTarget => ({
  ...{ id, name: id, hasEnded: false, isFailing: false, hasIt: false, actionSecret: '' },
  subscription: { endpoint: `https://push.example.org/${id}`, keys },
  ...more,
});

type Recorded = Parameters<PushAudience['record']>[0][number];

/** Sends to these; `answers`: of each device, the status of its next requests, then 201; 0: no answer, ten of which take 8 s. */
async function attempt(
  targets: readonly PushTarget[],
  answers: Record<string, number[]> = {},
  { signal = AbortSignal.any([]), isDetailed = false } = {},
) {
  const sent: string[] = [];
  const recorded: Recorded[] = [];
  let at = 0;
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
      const status = answers[id]?.shift() ?? 201;
      if (status === 0) at += 800;
      if (status === 0 || signal.aborted) throw new Error('no answer');
      return { status, headers: {}, body: status === 201 ? '' : 'why' };
    },
  };
  const audience = {
    ...{ targets, keys: derivePushKeys('k'), contact: undefined, isDetailed, actions: [] },
    record: async (attempts: readonly Recorded[]) => void recorded.push(...attempts),
  };
  const result = await sendPush(audience, notification, { outbound, now: () => at, signal });
  return { result, sent, recorded, most };
}

test('a device that has the notification from an earlier attempt is left out', async () => {
  const targets = [target('a', { hasIt: true }), target('b')];
  const { result, sent, recorded } = await attempt(targets);
  expect(result).toEqual({ outcome: 'delivered', answer: 'sent to 2 of 2 devices' });
  // Kept for an hour at least.
  expect(sent).toEqual([expect.stringMatching(/^b 3600 [\w-]{32}$/)]);
  expect(recorded).toEqual([{ id: 'b', error: null, isGone: false }]);
  expect((await attempt([target('a', { hasIt: true })])).result.outcome).toBe('delivered');
});

test('when the server stops, those that did not get it are tried again at the next start', async () => {
  const signal = AbortSignal.abort(new Error('the server stops'));
  const targets = [target('a', { hasIt: true }), target('b')];
  expect(await attempt(targets, {}, { signal })).toMatchObject({
    result: { outcome: 'retry' },
    recorded: [],
  });
});

test('all refuse: it fails; all are gone: it fails for good; one of another key of the server is named', async () => {
  const both = [target('a'), target('b')];
  const refused = await attempt(both, { a: [403], b: [413] });
  expect(refused.result).toMatchObject({ outcome: 'failed', isFinal: false });
  expect(refused.recorded).toEqual([
    { id: 'a', error: 'answered 403', isGone: false },
    { id: 'b', error: 'answered 413', isGone: false },
  ]);
  const gone = await attempt(both, { a: [404], b: [410] });
  expect(gone).toMatchObject({
    result: { outcome: 'failed', isFinal: true },
    recorded: [
      { id: 'a', error: expect.stringContaining('add it again'), isGone: true },
      { id: 'b', isGone: true },
    ],
  });
  const ended = await attempt([target('a', { subscription: undefined, hasEnded: true })]);
  expect(ended).toMatchObject({ result: { outcome: 'failed', isFinal: true }, sent: [] });
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

test('devices that do not answer keep no other from its message', async () => {
  const hung = (isFailing: boolean) =>
    Array.from({ length: 60 }, (_, i) => target(`hung ${i}`, { isFailing }));
  const none = Object.fromEntries(hung(true).map(({ id }) => [id, [0]]));
  const [firefox, phone] = [target('a'), target('phone')];
  // Those that failed before have ten places, and two seconds in which to begin.
  const before = await attempt([...hung(true), phone], structuredClone(none));
  expect(before.result.outcome).toBe('delivered');
  expect(before.sent[0]).toContain('phone');
  expect(before.recorded.length).toBeLessThan(25);
  expect(before.recorded.at(-1)).toEqual({ id: 'phone', error: null, isGone: false });
  // As long as nothing was known of them, they use the time up: another attempt begins with those that are left.
  const first = await attempt([firefox, ...hung(false), phone], structuredClone(none));
  expect(first.result.outcome).toBe('retry');
  expect(first.recorded.map(({ id }) => id)).not.toContain('phone');
  const known = (each: PushTarget) => first.recorded.find(({ id }) => id === each.id);
  const next = [firefox, ...hung(false), phone].map((each) => ({
    ...each,
    isFailing: typeof known(each)?.error === 'string',
    hasIt: known(each)?.error === null,
  }));
  const second = await attempt(next, structuredClone(none));
  expect(second.result.outcome).toBe('delivered');
  expect(second.recorded).toContainEqual({ id: 'phone', error: null, isGone: false });
});

test('the result names the others by reason, as far as the record has room', async () => {
  const targets = Array.from({ length: 20 }, (_, i) => target(`Chrome · Android ${i}`, { isFailing: true }));
  const answers = Object.fromEntries(targets.map(({ id }) => [id, [503]]));
  const { result } = await attempt([target('a'), target('b', { isFailing: true }), ...targets], {
    ...answers,
    b: [403],
  });
  expect(result.answer).toMatch(/^sent to 1 of 22 devices; not to b: answered 403; not to /);
  expect(result.answer).toMatch(/ and 1\d more: answered 503$/);
  expect(result.answer.length).toBeLessThan(300);
});

test('what a push service says is in the answer to an admin alone, and never recorded', async () => {
  const answerTo = async (isDetailed: boolean) => {
    const { result, recorded } = await attempt([target('a')], { a: [403] }, { isDetailed });
    expect(recorded).toEqual([{ id: 'a', error: 'answered 403', isGone: false }]);
    return result.answer;
  };
  expect(await answerTo(false)).toMatch(/answered 403$/);
  expect(await answerTo(true)).toMatch(/answered 403: why$/);
});

test('a link and a title of many bytes fit into a message', () => {
  const long = { ...notification, title: '🚨'.repeat(250), url: `https://example.org/${'文'.repeat(1_000)}` };
  expect(Buffer.byteLength(payloadOf(long))).toBeLessThanOrEqual(mostPushBytes);
});

test('the instructions follow the message, and are there also when it is long', () => {
  const bodyOf = (message: string, instructions: string): string =>
    JSON.parse(payloadOf({ ...notification, message, instructions })).body;
  expect(bodyOf('93 %', 'Call the plant.')).toBe('error\n93 %\n\nInstructions:\nCall the plant.');
  expect(bodyOf('x'.repeat(16_000), 'Call the plant.')).toMatch(
    /^error\nx+…\n\nInstructions:\nCall the plant\.$/,
  );
  expect(bodyOf('x', 'y'.repeat(16_000))).toMatch(/^error\nx\n\nInstructions:\ny+…$/);
});
