import { expect, test } from 'vitest';
import {
  type CalendarReading,
  neverRead,
  type OnCallRecord,
  type ReadResult,
} from '#core/on-call/on-call.ts';
import type { OutboundOptions, OutboundRequest, OutboundResponse } from '#outbound/outbound.ts';
import { createCalendarReader } from './reader.ts';

const record = {
  ...{ tenant: 1, id: 's', name: 'Ops', timeZone: 'UTC', people: [{ name: 'Ana' }], rota: null },
  ...{ calendar: { url: 'https://calendar.example/a.ics' }, alertBeforeMs: 0, createdAt: 0, updatedAt: 0 },
  reading: neverRead,
} satisfies OnCallRecord;

/** What is recorded, and the requests. */
async function read(answer: OutboundResponse, reading: CalendarReading = neverRead, version = '2.0.0') {
  const requests: {
    readonly url: string;
    readonly request: OutboundRequest;
    readonly options: OutboundOptions;
  }[] = [];
  const results: ReadResult[] = [];
  const reader = createCalendarReader({
    schedules: {
      claimCalendars: async () => [],
      recordRead: async (_, result) => results.push(result) > 0,
    },
    outboundOf: () => ({
      request: async (request, options) => {
        requests.push({ url: request.url, request, options });
        return answer;
      },
      connect: () => Promise.reject(new Error('it only requests')),
    }),
    now: () => 0,
    version,
    onRead: async () => undefined,
  });
  await reader.read({ ...record, reading });
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

test('a file that another version has read is read anew, even if it has not changed', async () => {
  const answer = { status: 200, headers: { etag: '"1"' }, body: 'BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n' };
  const [first] = (await read(answer)).results;
  if (first?.kind !== 'read') throw new Error('it was not read');
  const { copy, etag } = first;
  const tagsAskedBy = async (version: string) =>
    (await read(answer, { ...neverRead, copy, etag }, version)).requests.map(
      ({ request }) => request.headers?.['if-none-match'],
    );
  expect(await tagsAskedBy('2.0.0')).toEqual(['"1"']);
  expect(await tagsAskedBy('2.0.1')).toEqual([undefined]);
});
