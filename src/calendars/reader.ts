/**
 * Reads the calendars of on-call schedules. Each is read every five minutes by one node, and what is read is stored for all. While a
 * calendar cannot be read, its last good copy stays in force.
 */
import { Worker } from 'node:worker_threads';
import { limits } from '#contract/limits.ts';
import type { TenantId } from '#core/log/route.ts';
import { calendarAddress } from '#core/on-call/calendar.ts';
import type {
  CalendarCopy,
  CalendarReader,
  OnCallRecord,
  OnCallSchedules,
  ReadResult,
} from '#core/on-call/on-call.ts';
import type { Outbound, OutboundResponse } from '#outbound/outbound.ts';
import type { CalendarFile } from './events.ts';

interface ReaderOptions {
  readonly schedules: Pick<OnCallSchedules, 'claimCalendars' | 'recordRead'>;
  readonly outboundOf: (tenant: TenantId) => Outbound;
  readonly now: () => number;
  /** Of Belfry: what another one has read is read anew, as it may have made other events of it. */
  readonly version: string;
  /** Called after each reading; `isOther`: as `recordRead` returns it. */
  readonly onRead: (record: OnCallRecord, isOther: boolean) => Promise<void>;
}

const everyMs = 5 * 60_000;
const atOnce = 4;
const requestMs = 15_000;
const parseMs = 10_000;
const mostRedirects = 3;
const dayMs = 86_400_000;
const pastMs = 30 * dayMs;
const aheadMs = 100 * dayMs;
/** A copy that ends sooner is read anew, although the file has not changed. */
const leastAheadMs = 60 * dayMs;

export function createCalendarReader(options: ReaderOptions): CalendarReader {
  const { schedules, outboundOf, now, version, onRead } = options;
  const read = async (record: OnCallRecord): Promise<void> => {
    const outbound = outboundOf(record.tenant);
    const result = await readCalendar(record, outbound, { now: now(), version }).catch(
      (error: unknown): ReadResult => ({ kind: 'failed', error: errorText(error as Error) }),
    );
    await onRead(record, await schedules.recordRead(record, result, now()));
  };
  return {
    read,
    async readDue(isStopped) {
      while (!isStopped()) {
        const due = await schedules.claimCalendars(now(), now() + everyMs, atOnce);
        if (due.length === 0) return;
        await Promise.all(due.map(read));
      }
    },
  };
}

/** It may quote the file, and PostgreSQL stores no NUL. */
const errorText = ({ message }: Error): string => message.replaceAll(/\p{Cc}+/gu, ' ').slice(0, 500);

async function readCalendar(
  { calendar, timeZone, reading: { copy, etag } }: OnCallRecord,
  outbound: Outbound,
  { now, version }: { readonly now: number; readonly version: string },
): Promise<ReadResult> {
  if (!calendar) return { kind: 'unchanged' };
  const prefix = `${version} `;
  const tag = etag?.startsWith(prefix) ? etag.slice(prefix.length) : undefined;
  const isKnown = copy !== null && tag !== undefined && copy.until > now + leastAheadMs;
  const headers = isKnown ? { 'if-none-match': tag } : {};
  const response = await fetchFile(outbound, calendar.url, headers);
  if (isKnown && response.status === 304) return { kind: 'unchanged' };
  if (response.status !== 200) throw new Error(`the calendar's server answered ${response.status}`);
  if (Buffer.byteLength(response.body) > limits.calendarBytes)
    throw new Error(`the calendar is larger than ${limits.calendarBytes / 1024 / 1024} MiB`);
  // Of whole days, so that the copy stays the same for a day.
  const today = Math.floor(now / dayMs) * dayMs;
  const range = { from: today - pastMs, until: today + aheadMs };
  const newTag = response.headers.etag;
  return {
    kind: 'read',
    copy: await parseInThread({ text: response.body, timeZone, now, ...range }),
    etag: typeof newTag === 'string' && newTag.length <= 1_000 ? `${version} ${newTag}` : null,
  };
}

/** Each address is checked as the first one is; all answers together have the time of one. */
async function fetchFile(
  outbound: Outbound,
  address: string,
  headers: Readonly<Record<string, string>>,
): Promise<OutboundResponse> {
  let url = new URL(calendarAddress(address));
  const options = {
    ...{ timeoutMs: requestMs, signal: AbortSignal.timeout(requestMs) },
    maxBytes: limits.calendarBytes + 1,
  };
  for (let i = 0; ; i++) {
    const request = { url: url.href, headers: { accept: 'text/calendar', ...headers } };
    const response = await outbound.request(request, options);
    const { location } = response.headers;
    if (response.status < 301 || response.status > 308 || typeof location !== 'string') return response;
    if (response.status === 304) return response;
    if (i === mostRedirects) throw new Error('the calendar redirects too often');
    url = new URL(location, url);
    if (url.protocol !== 'https:' && url.protocol !== 'http:')
      throw new Error('the calendar redirects to an address that is not HTTP');
  }
}

/** In a thread of its own: a file may be made so that reading it never ends. */
export function parseInThread(file: CalendarFile, timeoutMs = parseMs): Promise<CalendarCopy> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./parsing-thread.ts', import.meta.url), {
      workerData: file,
      resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 12 },
    });
    const end = (settle: () => void) => {
      clearTimeout(timer);
      settle();
      void worker.terminate();
    };
    const timer = setTimeout(
      () => end(() => reject(new Error('reading the calendar takes too long'))),
      timeoutMs,
    );
    worker.once('message', (copy: CalendarCopy) => end(() => resolve(copy)));
    worker.once('error', (error) => end(() => reject(error)));
    worker.once('exit', () => end(() => reject(new Error('the calendar could not be read'))));
  });
}
