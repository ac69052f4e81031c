import { expect, test } from 'vitest';
import { neverRead, type OnCallRecord, type ReadResult } from '#core/on-call/on-call.ts';
import type { OutboundOptions, OutboundResponse } from '#outbound/outbound.ts';
import { createCalendarReader } from './reader.ts';

const record = {
  ...{ tenant: 1, id: 's', name: 'Ops', timeZone: 'UTC', people: [{ name: 'Ana' }], rota: null },
  ...{ calendar: { url: 'https://calendar.example/a.ics' }, alertBeforeMs: 0, createdAt: 0, updatedAt: 0 },
  reading: neverRead,
} satisfies OnCallRecord;

/** What is recorded, and the requests. */
async function read(answer: OutboundResponse) {
  const requests: { readonly url: string; readonly options: OutboundOptions }[] = [];
  const results: ReadResult[] = [];
  const reader = createCalendarReader({
    schedules: {
      claimCalendars: async () => [],
      recordRead: async (_, result) => results.push(result) > 0,
    },
    outboundOf: () => ({
      request: async ({ url }, options) => {
        requests.push({ url, options });
        return answer;
      },
      connect: () => Promise.reject(new Error('it only requests')),
    }),
    now: () => 0,
    onRead: async () => undefined,
  });
  await reader.read(record);
  return { requests, results };
}

test('redirects end after three, and share the time of one request', async () => {
  const { requests, results } = await read({ status: 302, headers: { location: '/next' }, body: '' });
  expect(requests.map(({ url }) => new URL(url).pathname)).toEqual(['/a.ics', '/next', '/next', '/next']);
  expect(new Set(requests.map(({ options }) => options.signal)).size).toBe(1);
  expect(requests[0]?.options.signal).toBeInstanceOf(AbortSignal);
  expect(results).toEqual([{ kind: 'failed', error: 'the calendar redirects too often' }]);
});

test('a redirect leads to no other protocol', async () => {
  const { requests, results } = await read({ status: 301, headers: { location: 'file:///etc/a' }, body: '' });
  expect(requests).toHaveLength(1);
  expect(results).toEqual([
    { kind: 'failed', error: 'the calendar redirects to an address that is not HTTP' },
  ]);
});

test('an error that quotes the file has no control characters, which PostgreSQL could not store', async () => {
  const body = 'BEGIN:VCALENDAR\r\na\u0000b\r\nEND:VCALENDAR\r\n';
  const { results } = await read({ status: 200, headers: {}, body });
  expect(results).toEqual([{ kind: 'failed', error: expect.stringContaining('invalid line') }]);
  expect(JSON.stringify(results)).not.toMatch(/\\u00/);
});
