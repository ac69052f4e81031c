import { expect, test } from 'vitest';
import type { Expectation } from '#core/intake/notification.ts';
import { createAttentionLab } from '#test/support/attention-lab.ts';
import type { Expected } from './expectations.ts';

const minute = 60_000;
const start: Expectation = { isStart: true, graceMs: 5 * minute, level: 'error' };
const daily: Expectation = { everyMs: 24 * 60 * minute, graceMs: 60 * minute, level: 'warning' };

test.each(['success', 'info', 'error'])(
  'any notification of the key, such as a(n) %s, ends work',
  async (level) => {
    const { send, pass, shown, rows } = createAttentionLab({}, {});
    await send({ title: 'Backup', level: 'info', expect: start });
    await pass(minute);
    const id = await send({ title: 'Backup', level });
    expect(rows.size).toBe(0);
    await pass(60 * minute);
    expect(shown().map((each) => each.id)).toEqual([id]);
  },
);

test('notifications of other keys, or without one, and starts end no work', async () => {
  const { send, pass, shown } = createAttentionLab({}, {});
  await send({ title: 'Backup', ttl: 1, expect: start });
  await send({ key: 'other', ttl: 1 });
  await send({ key: null, ttl: 1 });
  await pass(4 * minute);
  await send({ title: 'Backup', ttl: 1, expect: start });
  await pass(4 * minute);
  expect(shown().map(({ title }) => title)).not.toContain('Did not end: Backup');
  await pass(minute);
  const late = shown().filter(({ key, title }) => key === 'k' && title === 'Did not end: Backup');
  expect(late).toMatchObject([{ level: 'error', route: { origin: 'belfry:expectation' } }]);
});

test('an end that comes late takes the place of the alarm, and ends the expectation', async () => {
  const { send, pass, shown, rows } = createAttentionLab({}, {});
  await send({ title: 'Backup', expect: start });
  await pass(6 * minute);
  expect(shown()).toMatchObject([{ title: 'Did not end: Backup' }]);
  const id = await send({ title: 'Backup', level: 'success' });
  expect(shown()).toMatchObject([{ id }]);
  expect(rows.size).toBe(0);
});

test('an end that another node stores just before "Did not end" stays, and ends the expectation', async () => {
  for (const expected of [[start], [daily, start]]) {
    const { send, pass, shown, rows, history } = createAttentionLab({}, {});
    for (const expect of expected) {
      await pass(minute);
      await send({ title: 'Backup', expect });
    }
    const { append } = history;
    history.append = async (tenant, draft, ...more) => {
      if (draft.title.startsWith('Did not end')) {
        history.append = append;
        // The other node does not know of the beginning yet.
        const due = rows.get('k');
        rows.delete('k');
        await send({ title: 'Backup failed', level: 'error' });
        if (due) rows.set('k', due);
      }
      return append(tenant, draft, ...more);
    };
    await pass(6 * minute);
    expect(shown()).toMatchObject([{ title: 'Backup failed', level: 'error' }]);
    const isRepeating = expected.includes(daily);
    expect(rows.get('k')?.data).toEqual(
      isRepeating ? expect.objectContaining({ ...daily, raised: null }) : undefined,
    );
  }
});

test('the end of work restarts what the key expected before, or what its start named', async () => {
  for (const expected of [[daily, start], [{ ...daily, ...start }]]) {
    const { send, pass, shown, rows } = createAttentionLab({}, {});
    for (const expect of expected) await send({ title: 'Backup', level: 'info', expect });
    await pass(minute);
    await send({ title: 'Backup', level: 'success' });
    const data = rows.get('k')?.data as Expected;
    expect([data.everyMs, data.isStart, data.lastAt]).toEqual([daily.everyMs, undefined, 1_000_000 + minute]);
    await pass(24 * 60 * minute);
    expect(shown()).toMatchObject([{ level: 'success' }]);
    await pass(61 * minute);
    expect(shown()).toMatchObject([{ title: 'Overdue: Backup' }]);
  }
});

test('a start that is repeated still knows what the key expected before', async () => {
  const { send, pass, rows } = createAttentionLab({}, {});
  for (const expect of [daily, start, start]) await send({ expect });
  await pass(6 * minute);
  await send({});
  expect(rows.get('k')?.data).toMatchObject({ ...daily, raised: null });
});

test('a repeat of an earlier end, which is not stored again, does not end the work', async () => {
  const { send, pass, shown } = createAttentionLab({}, {});
  await send({ title: 'Backup', expect: start });
  await send({ level: 'success' }, 'sent');
  await pass(6 * minute);
  expect(shown()).toMatchObject([{ title: 'Did not end: Backup' }]);
});

test('a plain notification changes no interval', async () => {
  const { send, pass, rows } = createAttentionLab({}, {});
  await send({ expect: daily });
  await pass(minute);
  await send({ level: 'success' });
  expect(rows.get('k')?.data).toMatchObject({ ...daily, lastAt: 1_000_000 });
});
