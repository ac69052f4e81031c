import { Type } from 'typebox';
import { type Cursor, parseCursor } from '#contract/panels/sse.ts';
import { noticeScreen } from '#core/alarms/lost-panels.ts';
import { AppError, notFound } from '#core/errors.ts';
import { mayUsePanel } from '#core/people/access.ts';
import { screenStreams } from '#core/streams/frames.ts';
import type { Authenticator } from '../callers/auth.ts';
import { EventStream, IdPath, route } from '../openapi/route-schemas.ts';
import { requestIdOf } from '../requests.ts';
import type { App, Services } from '../services.ts';
import { answerSseHead, begin, openSse } from '../sse-response.ts';

/** GET /api/panels/{id}/events: the stream of one panel. */
export function streamRoutes(app: App, services: Services, authenticator: Authenticator): void {
  const { tenancy, tenantStreams, schedule } = services;
  app.get(
    '/api/panels/:id/events',
    route(
      { scope: 'panel', role: 'viewer' },
      {
        summary: 'The event stream of a panel (Server-Sent Events)',
        description: `Events: ready, notification, clear, acknowledge, unacknowledge, shelve, unshelve, suppress, unsuppress, suppresses, throttled, settings, heartbeat, gap,
reset, bye. Without a cursor the panel gets its live set; with Last-Event-ID everything routed to it after that, each once, in order. The header Belfry-Client,
as in panel/0.9.0, names the screen's program; it is shown with the panel.`,
        params: IdPath,
        querystring: Type.Object({ last_event_id: Type.Optional(Type.String()) }),
        response: { 200: EventStream },
        rateLimit: 'by panel',
        expensive: 'panel stream',
      },
    ),
    async (request, reply) => {
      const { principal } = request;
      const panel = await tenancy.findPanel(principal.tenant, request.params.id);
      if (!panel || !mayUsePanel(principal, panel.id)) throw notFound('panel');
      const from = readCursor(request.headers['last-event-id'], request.query.last_event_id);
      if (request.method === 'HEAD') return answerSseHead(reply);
      const screen = { client: readClient(request.headers['belfry-client']), address: request.sourceIp };
      const sink = openSse(request, reply);
      const snapshot = await tenancy.get(principal.tenant);
      const span = services.tracer?.start('stream open', { 'belfry.resumes': from !== undefined });
      const opening = tenantStreams.connect(snapshot, [panel], sink, { from, screen, kind: screenStreams });
      if (panel.display.alertWhenLostMs !== undefined)
        opening
          .then(() => noticeScreen(schedule, principal.tenant, panel.id))
          .catch((error: unknown) =>
            request.log.error({ err: error, requestId: requestIdOf(request.raw) }, 'a stream failed'),
          );
      if (span) opening.then(() => span.end(), span.end.bind(span));
      const stopChecking = authenticator.watch(request, () => sink.end());
      sink.onGone(() => {
        stopChecking();
        opening.then(
          (connection) => connection.disconnected(),
          () => undefined,
        );
      });
      return begin(sink, opening, reply);
    },
  );
}

/** The header goes first: a browser sets it on each reconnect, while the query stays as it was at the start. */
function readCursor(header: unknown, query: string | undefined): Cursor | undefined {
  const text = typeof header === 'string' && header !== '' ? header : query;
  if (text === undefined || text === '') return undefined;
  const cursor = parseCursor(text);
  if (!cursor)
    throw new AppError(
      'cursor.invalid',
      'Last-Event-ID must be <epoch>-<position>, as the stream gave it in id',
    );
  return cursor;
}

/** Name and version of the screen; a header in another form is ignored. */
function readClient(header: unknown): string | null {
  return typeof header === 'string' && /^[a-z][a-z0-9-]{0,31}\/[0-9A-Za-z.+-]{1,32}$/.test(header)
    ? header
    : null;
}
