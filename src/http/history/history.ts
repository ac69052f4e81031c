import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { HistoryPage } from '#contract/history/notification.ts';
import { limits } from '#contract/limits.ts';
import { AppError } from '#core/errors.ts';
import { historyJson } from '#core/history/history-view.ts';
import { isoOrNull } from '#core/time.ts';
import type { Authenticator } from '../callers/auth.ts';
import { connectionSignal, endWhenStalled } from '../client-connection.ts';
import { limitUpTo, readLimit, route } from '../openapi/route-schemas.ts';
import type { App, Services } from '../services.ts';
import { answerSseHead, begin, openSse } from '../sse-response.ts';
import { exported } from './export-run.ts';
import { q, queryOf } from './history-query.ts';
import { HistoryTail } from './history-tail.ts';

/** Searching history: a page, a live tail, an export. */
export function historyRoutes(app: App, services: Services, authenticator: Authenticator): void {
  const { history, tenancy, now } = services;

  app.get(
    '/api/history',
    route(
      'viewer',
      {
        summary: 'Search history, newest first',
        description: `A search takes ${limits.searchMs / 1000} seconds at most. The page then holds what was found by that time, searchedTo
says how far back that is, and nextCursor continues the search.`,
        querystring: Type.Object({
          q,
          limit: limitUpTo(limits.historyPage),
          cursor: Type.Optional(Type.String({ description: 'nextCursor of the page before.' })),
        }),
        response: { 200: HistoryPage },
      },
      { expensive: 'search' },
    ),
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
    route(
      'viewer',
      {
        summary: 'Follow a search live (Server-Sent Events)',
        description: 'Events: ready, then a notification for each new one that matches, and heartbeats.',
        querystring: Type.Object({ q }),
        response: {
          200: {
            description: 'text/event-stream',
            content: { 'text/event-stream': { schema: Type.String() } },
          },
        },
      },
      { expensive: 'history stream' },
    ),
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
    route(
      'viewer',
      {
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
      },
      { expensive: 'export' },
    ),
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
