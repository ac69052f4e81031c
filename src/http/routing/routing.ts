import type { Socket } from 'node:net';
import { ExplainRequest, ReplayRequest, ReplayResponse, RoutingOutcome } from '#contract/routing.ts';
import { AppError, badRequest, requireFound } from '#core/errors.ts';
import type { Entry, TenantId } from '#core/ports.ts';
import {
  type DraftSurroundings,
  draftRouter,
  outcomeOf,
  subjectOfRequest,
  wasThrottled,
} from '#core/routing/explain-request.ts';
import { subjectOf } from '#core/routing/recorded.ts';
import { type ReplayEntry, replay, replayed, replayStart } from '#core/routing/replay.ts';
import type { TenantSnapshot } from '#core/tenancy.ts';
import { createYieldToEventLoop, type YieldToEventLoop } from '#core/yield-to-event-loop.ts';
import { problems, route } from '../route-schemas.ts';
import type { App, Services } from '../services.ts';

/** The body limit for a draft, which may have as many rules as a tenant. */
const maxDraftBytes = 16 * 1024 * 1024;
const replayDays = 7;
const maxReplayEntries = 100_000;
const dayMs = 86_400_000;

/** Evaluates rules without effect: for one notification (explain), or for the last days of history (replay). */
export function routingRoutes(app: App, services: Services): void {
  const { directory, history, receipts, tenancy, now } = services;
  app.post(
    '/api/rules/explain',
    {
      ...route(
        'viewer',
        {
          summary: 'Explain where a notification goes, and what each rule contributes',
          description:
            'For a given notification or the id of a recorded one, by the current rules or by a draft.',
          body: ExplainRequest,
          response: { 200: RoutingOutcome, ...problems(404) },
        },
        { expensive: 'explain' },
      ),
      bodyLimit: maxDraftBytes,
    },
    async ({ principal: { tenant }, body, raw: { socket } }) => explainBy(services, tenant, body, socket),
  );

  app.post(
    '/api/rules/replay',
    {
      ...route(
        'admin',
        {
          summary: 'Replay a draft rule set over the last days of history',
          description: `Changes nothing. At most the newest ${maxReplayEntries} entries of the log are scanned.`,
          body: ReplayRequest,
          response: { 200: ReplayResponse },
        },
        { expensive: 'replay' },
      ),
      bodyLimit: maxDraftBytes,
    },
    async ({ principal: { tenant }, body: { rules, days = replayDays, ...draft }, raw: { socket } }) => {
      const inForce = await tenancy.get(tenant);
      const snapshot = draftSnapshot(inForce, draft);
      const router = await draftRouter(rules, snapshot, yieldWhileOpen(socket));
      const start = await replayStart(history, tenant, now() - days * dayMs, maxReplayEntries);
      const names = new Map(
        (await directory.credentials.list(tenant, 'token')).map(({ id, name }) => [id, name]),
      );
      const recorded = withTokenNames(whileOpen(replayed(history, tenant, start), socket), names);
      const comparison = await replay(recorded, router, [...snapshot.panels.values()], {
        before: [...inForce.channels.values()],
        after: [...snapshot.channels.values()],
        now: now(),
        firstShown: (ids) => {
          requireOpen(socket);
          return receipts.firstShown(tenant, ids);
        },
      });
      return { ...comparison, complete: start.complete };
    },
  );
}

/** The tenant with the levels, panels and channels of a draft, where it has them. */
function draftSnapshot(
  snapshot: TenantSnapshot,
  { levels, panels, channels }: Pick<ReplayRequest, 'levels' | 'panels' | 'channels'>,
): DraftSurroundings {
  return {
    record: snapshot.record,
    channels: channels ? new Map(channels.map((channel) => [channel.id, channel])) : snapshot.channels,
    levels: levels ? new Map(levels.map((level) => [level.name, level])) : snapshot.levels,
    panels: panels ? new Map(panels.map((panel) => [panel.id, panel])) : snapshot.panels,
  };
}

async function explainBy(
  { directory, history, tenancy, explainer, now }: Services,
  tenant: TenantId,
  { notification, rules, at }: ExplainRequest,
  socket: Socket,
): Promise<RoutingOutcome> {
  const snapshot = await tenancy.get(tenant);
  const yieldToEventLoop = yieldWhileOpen(socket);
  const router = rules === undefined ? snapshot.router : await draftRouter(rules, snapshot, yieldToEventLoop);
  if (typeof notification === 'string') {
    const record = requireFound(await history.find(tenant, notification), 'notification');
    const throttled = wasThrottled(record, rules !== undefined);
    const question = {
      ...{ router, recorded: record, subject: subjectOf(record, router) },
      at: instant(at, record.receivedAt),
    };
    return outcomeOf(await explainer.explain(tenant, question, yieldToEventLoop), { snapshot, throttled });
  }
  const tokens = notification.token === undefined ? [] : await directory.credentials.list(tenant, 'token');
  const subject = subjectOfRequest(notification, router, tokens);
  const question = { router, subject, at: instant(at, now()) };
  return outcomeOf(await explainer.explain(tenant, question, yieldToEventLoop), {
    snapshot,
    throttled: false,
  });
}

/** Passes the items on; throws when the client has closed the connection. */
async function* whileOpen<T>(items: AsyncIterable<T>, socket: Socket): AsyncGenerator<T> {
  for await (const item of items) {
    requireOpen(socket);
    yield item;
  }
}

function yieldWhileOpen(socket: Socket): YieldToEventLoop {
  const yieldToEventLoop = createYieldToEventLoop();
  return () => yieldToEventLoop()?.then(() => requireOpen(socket));
}

/** @throws AppError `timeout` if the client closed or half-closed the connection; a browser that cancels does the same. */
function requireOpen(socket: Socket): void {
  if (socket.destroyed || socket.readableEnded)
    throw new AppError('timeout', 'the caller did not wait for the answer');
}

/** Adds the current name of the token to each notification, because rules can match a token by name. */
async function* withTokenNames(
  entries: AsyncIterable<Entry>,
  names: ReadonlyMap<string, string>,
): AsyncGenerator<ReplayEntry> {
  for await (const each of entries)
    yield each.kind === 'notification'
      ? { ...each, tokenName: names.get(each.tokenId) ?? each.tokenId }
      : each;
}

function instant(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw badRequest(`at: "${text}" is no time; write 2026-11-01T18:00:00Z`);
  return at;
}
