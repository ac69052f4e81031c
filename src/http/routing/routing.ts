import { ExplainRequest, ReplayRequest, ReplayResponse, RoutingOutcome } from '#contract/routing/routing.ts';
import { createYieldToEventLoop, type YieldToEventLoop } from '#core/concurrency.ts';
import { badRequest, requireFound } from '#core/errors.ts';
import type { Entry, TenantId } from '#core/ports.ts';
import type { Question } from '#core/routing/explain.ts';
import {
  type DraftSurroundings,
  draftRouter,
  outcomeOf,
  subjectOfRequest,
} from '#core/routing/explain-request.ts';
import { subjectOf } from '#core/routing/recorded.ts';
import { type ReplayEntry, replay, replayed, replayStart } from '#core/routing/replay/replay.ts';
import type { TenantSnapshot } from '#core/tenants/tenancy.ts';
import { connectionSignal } from '../client-connection.ts';
import { problems, route } from '../openapi/route-schemas.ts';
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
    async (request) => explainBy(services, request.principal.tenant, request.body, connectionSignal(request)),
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
    async (request) => {
      const { tenant } = request.principal;
      const { rules, days = replayDays, ...draft } = request.body;
      const signal = connectionSignal(request);
      const inForce = await tenancy.current(tenant);
      const snapshot = draftSnapshot(inForce, draft);
      const router = await draftRouter(rules, snapshot, yieldUnlessAborted(signal));
      const start = await replayStart(history, tenant, now() - days * dayMs, maxReplayEntries);
      const names = new Map(
        (await directory.credentials.list(tenant, 'token')).map(({ id, name }) => [id, name]),
      );
      const recorded = withTokenNames(replayed(history, tenant, start), names, signal);
      const comparison = await replay(recorded, router, [...snapshot.panels.values()], {
        before: [...inForce.channels.values()],
        after: [...snapshot.channels.values()],
        now: now(),
        firstShown: (ids) => {
          signal.throwIfAborted();
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
  signal: AbortSignal,
): Promise<RoutingOutcome> {
  const snapshot = await tenancy.current(tenant);
  const yieldToEventLoop = yieldUnlessAborted(signal);
  const router = rules === undefined ? snapshot.router : await draftRouter(rules, snapshot, yieldToEventLoop);
  const explain = (question: Omit<Question, 'router'>) =>
    explainer.explain(tenant, { router, ...question }, yieldToEventLoop);
  if (typeof notification === 'string') {
    const recorded = requireFound(await history.find(tenant, notification), 'notification');
    const subject = subjectOf(recorded, router);
    const explanation = await explain({ recorded, subject, at: instant(at, recorded.receivedAt) });
    // Whether a draft would throttle it is unknown.
    const throttled = rules === undefined && recorded.throttledOn !== null;
    return outcomeOf(explanation, { snapshot, throttled });
  }
  const tokens = !notification.token ? [] : await directory.credentials.list(tenant, 'token');
  const subject = subjectOfRequest(notification, router, tokens);
  return outcomeOf(await explain({ subject, at: instant(at, now()) }), { snapshot, throttled: false });
}

function yieldUnlessAborted(signal: AbortSignal): YieldToEventLoop {
  const yieldToEventLoop = createYieldToEventLoop();
  return () => yieldToEventLoop()?.then(() => signal.throwIfAborted());
}

/** Adds the current name of the token to each notification, because rules can match a token by name. */
async function* withTokenNames(
  entries: AsyncIterable<Entry>,
  names: ReadonlyMap<string, string>,
  signal: AbortSignal,
): AsyncGenerator<ReplayEntry> {
  for await (const each of entries) {
    signal.throwIfAborted();
    yield each.kind === 'notification'
      ? { ...each, tokenName: names.get(each.tokenId) ?? each.tokenId }
      : each;
  }
}

function instant(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw badRequest(`at: "${text}" is no time; write 2026-11-01T18:00:00Z`);
  return at;
}
