import { Readable } from 'node:stream';
import { type Static, Type } from 'typebox';
import { valueKeys } from '#contract/history/fields.ts';
import { HistoryPage } from '#contract/history/notification.ts';
import { FieldValues, Histogram } from '#contract/history/search.ts';
import { limits } from '#contract/limits.ts';
import { AppError, badRequest } from '#core/errors.ts';
import { csvHeader, historyJson } from '#core/log/history-view.ts';
import type { TenantId } from '#core/log/route.ts';
import { histogramTimes, toBuckets, type ValueField, valueFields } from '#core/log/statistics.ts';
import type { Query } from '#core/search/search-query.ts';
import { isoOrNull } from '#core/time/time.ts';
import type { Authenticator } from '../callers/auth.ts';
import { EventStream, limitUpTo, readLimit, route, wholeNumber } from '../openapi/route-schemas.ts';
import { connectionSignal, endWhenStalled } from '../requests.ts';
import type { App, Services } from '../services.ts';
import { answerSseHead, begin, openSse } from '../sse-response.ts';
import { HistoryTail } from './history-tail.ts';
import { q, queryOf } from './searches.ts';

/** Searching history: a page, a live tail, an export. */
export function historyRoutes(app: App, services: Services, authenticator: Authenticator): void {
  const { history, tenancy, now } = services;

  app.get(
    '/api/history',
    route('viewer', {
      summary: 'Search history, newest first',
      description: `A search takes ${limits.searchMs / 1000} seconds at most. The page then holds what was found by that time, searchedTo
says how far back that is, and nextCursor continues the search.`,
      querystring: Type.Object({
        q,
        limit: limitUpTo(limits.historyPage),
        cursor: Type.Optional(Type.String({ description: 'nextCursor of the page before.' })),
      }),
      response: { 200: HistoryPage },
      expensive: 'search',
    }),
    async (request, reply) => {
      const { principal, query } = request;
      const limit = readLimit(query.limit, limits.historyPage);
      const before = readCursor(query.cursor);
      const parsed = await queryOf(services, principal.tenant, query.q);
      const page = await history.search(principal.tenant, parsed, {
        limit,
        form: 'lines',
        now: now(),
        timeoutMs: limits.searchMs,
        signal: connectionSignal(request),
        ...(before !== undefined && { before }),
      });
      const notifications = historyJson(page.records, await tenancy.get(principal.tenant));
      const rest = JSON.stringify({
        nextCursor: page.next === null ? null : `p${page.next}`,
        searchedTo: isoOrNull(page.searchedTo),
      });
      const json = `{"notifications":[${[...notifications].join()}],${rest.slice(1)}`;
      // Already serialized; a test compares it with the schema's serializer.
      return reply.type('application/json; charset=utf-8').send(json as unknown as HistoryPage);
    },
  );

  app.get(
    '/api/history/stream',
    route('viewer', {
      summary: 'Follow a search live (Server-Sent Events)',
      description: 'Events: ready, then a notification for each new one that matches, and heartbeats.',
      querystring: Type.Object({ q }),
      response: { 200: EventStream },
      expensive: 'history stream',
    }),
    async (request, reply) => {
      const { principal } = request;
      // Parsed here only to refuse a bad query. The tail parses it again for each read, so that "since:2h" moves on.
      await queryOf(services, principal.tenant, request.query.q);
      if (request.method === 'HEAD') return answerSseHead(reply);
      const sink = openSse(request, reply);
      const tail = new HistoryTail(services, principal.tenant, request.query.q, sink);
      const stopChecking = authenticator.watch(request, () => sink.end());
      sink.onGone(() => {
        stopChecking();
        tail.close();
      });
      return begin(sink, tail.started, reply);
    },
  );

  app.get(
    '/api/history/export',
    route('viewer', {
      summary: 'Export all matches of a search, newest first, of any size',
      querystring: Type.Object({ q, format: Type.Optional(Type.Enum(['ndjson', 'csv'])) }),
      response: {
        200: {
          description: 'The file',
          content: {
            'application/x-ndjson': { schema: Type.String() },
            'text/csv': { schema: Type.String() },
          },
        },
      },
      expensive: 'export',
    }),
    async (request, reply) => {
      const { principal, query } = request;
      const parsed = await queryOf(services, principal.tenant, query.q);
      const csv = query.format === 'csv';
      reply.type(csv ? 'text/csv; charset=utf-8; header=present' : 'application/x-ndjson; charset=utf-8');
      reply.header('content-disposition', `attachment; filename="belfry-history.${csv ? 'csv' : 'ndjson'}"`);
      if (request.method === 'HEAD') return reply.send(Readable.from([]) as unknown as string);
      const signal = connectionSignal(request);
      const refused = new AbortController();
      const either = AbortSignal.any([signal, refused.signal]);
      const wanted = { tenant: principal.tenant, query: parsed, csv, signal: either };
      const pages = Readable.from(exported(services, wanted), { objectMode: false });
      const stopWatching = authenticator.watch(request, (refusal) => {
        if (reply.raw.headersSent) return void reply.raw.destroy();
        // Nothing was sent yet: the answer is the refusal.
        reply.removeHeader('content-disposition');
        pages.destroy(refusal);
        refused.abort();
      });
      // Ends the pages before the search fails, so that a client that disconnects causes no warning in the log.
      const stop = () => pages.destroy();
      signal.addEventListener('abort', stop);
      reply.raw.once('close', () => {
        stopWatching();
        signal.removeEventListener('abort', stop);
      });
      endWhenStalled(reply.raw);
      // A stream of text, which the schema cannot express.
      return reply.send(pages as unknown as string);
    },
  );
}

function readCursor(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  const position = /^p[0-9]{1,15}$/.test(text) ? Number(text.slice(1)) : undefined;
  if (position === undefined)
    throw new AppError('cursor.invalid', 'cursor must be the nextCursor of an earlier page');
  return position;
}

/** A page is about this much text, however long its messages are. */
const pageChars = 128 * 1024;
const firstPage = 20;
const longestPage = 500;

export interface Wanted {
  readonly tenant: TenantId;
  readonly query: Query;
  readonly csv: boolean;
  /** Cancels the running search. */
  readonly signal: AbortSignal;
}

/** One page at a time; the next is read when the client has taken the last. */
async function* exported(
  { history, now }: Services,
  { tenant, query, csv, signal }: Wanted,
): AsyncGenerator<string> {
  if (csv) yield csvHeader;
  const at = now();
  let before: number | undefined;
  let limit = firstPage;
  for (;;) {
    const page = await history.search(tenant, query, {
      limit,
      form: csv ? 'csv' : 'ndjson',
      now: at,
      timeoutMs: limits.searchMs,
      signal,
      ...(before !== undefined && { before }),
    });
    const text = page.records.join('');
    if (text !== '') yield text;
    if (page.next === null) return;
    before = page.next;
    if (text === '') continue;
    const perRecord = Math.max(1, text.length / page.records.length);
    limit = Math.min(longestPage, 2 * limit, Math.max(1, Math.floor(pageChars / perRecord)));
  }
}

const mostBuckets = 200;
const usualBuckets = 60;
const instant = (what: string) => Type.Optional(Type.String({ format: 'date-time', description: what }));

/** GET /api/history/histogram: the matches of a search, counted by time and level. */
export function histogramRoutes(app: App, services: Services): void {
  const { statistics, tenancy, now } = services;
  app.get(
    '/api/history/histogram',
    route('viewer', {
      summary: 'Number of matches over time and by level',
      description: `Buckets are of a round length, from 1 s to 7 d, the shortest that gives at most the requested number.
Without after and before it is the range that the search itself names (since:, after:, before:), or the last 24 hours.`,
      querystring: Type.Object({
        q,
        after: instant('Received then or later.'),
        before: instant('Received before then.'),
        buckets: wholeNumber(
          mostBuckets,
          usualBuckets,
          `At most so many, 1 to ${mostBuckets}; ${usualBuckets} when not given.`,
        ),
      }),
      response: { 200: Histogram },
      expensive: 'count',
    }),
    async (request) => {
      const { tenant } = request.principal;
      const { q: text, after, before, buckets } = request.query;
      const most = readBuckets(buckets);
      const query = await queryOf(services, tenant, text);
      const { timeZone } = (await tenancy.get(tenant)).record;
      const at = now();
      const range = {
        ...(after !== undefined && { after: readInstant('after', after) }),
        ...(before !== undefined && { before: readInstant('before', before) }),
      };
      const times = histogramTimes(query, range, most, { now: at, timeZone });
      const options = { now: at, timeoutMs: limits.searchMs, signal: connectionSignal(request) };
      const { counts, searchedTo } = await statistics.count(tenant, query, times, options);
      return {
        buckets: toBuckets(counts, times, { first: 0, length: times.buckets }),
        bucketMs: times.bucketMs,
        total: counts.reduce((sum, { count }) => sum + count, 0),
        searchedTo: isoOrNull(searchedTo),
      };
    },
  );
}

function readBuckets(text: string | undefined): number {
  if (text === undefined) return usualBuckets;
  const buckets = /^[0-9]{1,3}$/.test(text) ? Number(text) : 0;
  if (buckets < 1 || buckets > mostBuckets)
    throw badRequest(`buckets must be a whole number from 1 to ${mostBuckets}`);
  return buckets;
}

/** Date.parse refuses the second 60, which the format allows. */
function readInstant(name: string, text: string): number {
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw badRequest(`${name} must be a time that exists, as in 2026-11-01T10:00:00Z`);
  return Math.max(0, at);
}

const mostValues = 20;
const Key = Type.Enum([...valueKeys, 'level']);

/** GET /api/history/values: completions for a key of the query language. */
export function fieldValueRoutes(app: App, services: Services): void {
  app.get(
    '/api/history/values',
    route('viewer', {
      summary: 'Values that begin with the prefix, to complete a search while it is typed',
      description: `At most ${mostValues}, in order. Values of the last seconds may be missing. Of labels, names as in "env=" until the prefix has an "=", then as in "env=prod".`,
      querystring: Type.Object({
        key: Key,
        prefix: Type.Optional(Type.String({ maxLength: 255 })),
      }),
      response: { 200: FieldValues },
    }),
    async (request) => {
      const { tenant } = request.principal;
      const { key, prefix = '' } = request.query;
      if (isValueField(key)) {
        const bounds = { timeoutMs: limits.searchMs, signal: connectionSignal(request) };
        const wanted = { field: key, prefix, limit: mostValues, ...bounds };
        return { values: [...(await services.statistics.values(tenant, wanted))] };
      }
      const begin = prefix.toLowerCase();
      const names = [...new Set(await namesOf(services, tenant, key))];
      const fitting = names.filter((name) => name.toLowerCase().startsWith(begin));
      return { values: fitting.sort((a, b) => a.localeCompare(b)).slice(0, mostValues) };
    },
  );
}

const isValueField = (key: Static<typeof Key>): key is ValueField =>
  (valueFields as readonly string[]).includes(key);

async function namesOf(
  { tenancy, directory }: Services,
  tenant: TenantId,
  key: Exclude<Static<typeof Key>, ValueField>,
): Promise<string[]> {
  const { panels, levels } = await tenancy.get(tenant);
  switch (key) {
    case 'panel':
      return Array.from(panels.values(), ({ name }) => name);
    case 'level':
      return [...levels.keys()];
    case 'token':
      return (await directory.credentials.list(tenant, 'token')).map(({ name }) => name);
    case 'rule':
      return (await directory.rules.list(tenant)).map(({ name }) => name);
  }
}
