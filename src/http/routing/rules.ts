import { uuidv7 } from 'uuidv7';
import { ExplainRequest, ReplayRequest, ReplayResponse, RoutingOutcome } from '#contract/routing/routing.ts';
import { NewRule, Rule, RuleList, RuleOrder, RulePatch, type RuleSpec } from '#contract/routing/rule.ts';
import { type KnownNames, knownNames, namesTokens } from '#contract/routing/rule-names.ts';
import { badRequest, conflict, notFound, requireFound } from '#core/errors.ts';
import { createYieldToEventLoop, type YieldToEventLoop } from '#core/limits/concurrency.ts';
import type { Entry } from '#core/log/log.ts';
import type { TenantId } from '#core/log/route.ts';
import { draftPlans } from '#core/on-call/on-call-setup.ts';
import { actorOf } from '#core/people/access.ts';
import { tokenView } from '#core/people/credentials.ts';
import { type Explanation, type Question, subjectOf } from '#core/routing/explain.ts';
import {
  type DraftSurroundings,
  draftRouter,
  outcomeOf,
  subjectOfRequest,
} from '#core/routing/explain-request.ts';
import { suppressionOf, wouldSuppress } from '#core/routing/explain-suppressed.ts';
import { prepareRegexes } from '#core/routing/regex.ts';
import { type ReplayEntry, replay, replayed, replayStart } from '#core/routing/replay.ts';
import {
  changedRule,
  newRule,
  requireKnownNames,
  ruleWarnings,
  validateRule,
  withIds,
} from '#core/routing/rules.ts';
import type { RuleRecord } from '#core/tenants/directory.ts';
import type { TenantSnapshot } from '#core/tenants/tenancy.ts';
import { IdPath, NoContent, problems, route } from '../openapi/route-schemas.ts';
import { connectionSignal } from '../requests.ts';
import type { App, Services } from '../services.ts';

/** The size limit of a rule. Every change of a rule reads all rules, so rules must stay small. */
const maxRuleBytes = 128 * 1024;
/** How often a change is tried again when someone else changes the rule at the same time. */
const changeAttempts = 50;

/** Routing rules: an ordered list. */
export function ruleRoutes(app: App, services: Services): void {
  listRoutes(app, services);
  const { directory, tenancy, now } = services;
  const { rules } = directory;

  app.post(
    '/api/rules',
    route('admin', {
      summary: 'Create a rule',
      body: NewRule,
      response: { 201: Rule, ...problems(409) },
      bodyLimit: maxRuleBytes,
    }),
    async ({ principal, body: { position, ...wanted } }) => {
      const { tenant } = principal;
      const snapshot = await tenancy.current(tenant);
      const spec = withIds(newRule(uuidv7(), wanted, snapshot.record.timeZone), snapshot);
      await check(spec, snapshot);
      const known = await requireNames(services, tenant, spec);
      const rule = await rules.create(tenant, spec, actorOf(principal), now(), position);
      await tenancy.refresh(tenant);
      return warned(rule, known, 'offers');
    },
  );

  app.patch(
    '/api/rules/:id',
    route('admin', {
      summary: 'Change a rule',
      description:
        'Fields that are not named keep their value; `when`, `then` and `windows` are replaced as a whole.',
      params: IdPath,
      body: RulePatch,
      response: { 200: Rule, ...problems(409) },
      bodyLimit: maxRuleBytes,
    }),
    async ({ principal, params, body }) => {
      const { tenant } = principal;
      const rule = await changeRule(services, tenant, params.id, { body, by: actorOf(principal) });
      await tenancy.refresh(tenant);
      return warned(rule, await namesFor(services, tenant, [rule]), 'offers');
    },
  );

  app.delete(
    '/api/rules/:id',
    route('admin', {
      summary: 'Delete a rule; history keeps what it decided',
      params: IdPath,
      response: { 204: NoContent },
    }),
    async ({ principal, params }) => {
      const { tenant } = principal;
      requireFound(await rules.remove(tenant, params.id, actorOf(principal), now()), 'rule');
      await tenancy.refresh(tenant);
    },
  );
}

/** Yields to the event loop while it compiles, because a thousand regular expressions take a while. */
async function check(spec: RuleSpec, snapshot: TenantSnapshot): Promise<void> {
  await prepareRegexes([spec], createYieldToEventLoop(), { limited: true });
  validateRule(spec, snapshot);
}

/**
 * The names that the rule may use.
 * @throws AppError `bad-request` for a level or token that does not exist, unless the rule before the change named it, too.
 */
async function requireNames(services: Services, tenant: TenantId, spec: RuleSpec, before?: RuleSpec) {
  const known = await namesFor(services, tenant, [spec]);
  requireKnownNames(spec, known, before);
  return known;
}

/** Fields that are not named keep their current value, even when two people change the rule at the same time. */
async function changeRule(
  services: Services,
  tenant: TenantId,
  id: string,
  { body, by }: { readonly body: RulePatch; readonly by: string },
): Promise<RuleRecord> {
  const { directory, tenancy, now } = services;
  const { rules } = directory;
  for (let attempt = 0; attempt < changeAttempts; attempt++) {
    const { revision, rules: known } = await rules.set(tenant);
    const before = known.find((rule) => rule.id === id);
    if (!before) throw notFound('rule');
    const snapshot = await tenancy.current(tenant);
    const spec = withIds(changedRule(before, body), snapshot);
    // A rule that no longer works, because its panel is gone, can still be disabled.
    if (!onlyDisables(body)) await check(spec, snapshot);
    if (body.when ?? body.then) await requireNames(services, tenant, spec, before);
    const changed = await rules.update(tenant, spec, by, now(), revision);
    if (changed) return changed;
  }
  throw conflict('the rule is being changed by others: read it again, then change it');
}

function onlyDisables(patch: RulePatch): boolean {
  return patch.enabled === false && Object.keys(patch).length === 1;
}

async function allWithWarnings(
  services: Services,
  tenant: TenantId,
  rules: readonly RuleRecord[],
): Promise<Rule[]> {
  const known = await namesFor(services, tenant, rules);
  const yieldToEventLoop = createYieldToEventLoop();
  const answered: Rule[] = [];
  for (const rule of rules) {
    answered.push(warned(rule, known));
    const pause = yieldToEventLoop();
    if (pause) await pause;
  }
  return answered;
}

/** Tokens are read only if a rule names one. */
async function namesFor(
  { directory, tenancy }: Services,
  tenant: TenantId,
  rules: readonly RuleSpec[],
): Promise<KnownNames> {
  const { levels } = await tenancy.get(tenant);
  const tokens = rules.some(namesTokens) ? await directory.credentials.list(tenant, 'token') : [];
  return knownNames(levels.values(), tokens.map(tokenView));
}

/** A rule as it is answered. */
function warned(rule: RuleRecord, known: KnownNames, mode?: 'offers'): Rule {
  const warnings = ruleWarnings(rule, known, mode);
  return warnings.length === 0 ? rule : { ...rule, warnings };
}

function listRoutes(app: App, services: Services): void {
  const {
    directory: { rules },
    tenancy,
    now,
  } = services;
  app.get(
    '/api/rules',
    route('viewer', {
      summary: 'All rules, in the order in which they are tried',
      response: { 200: RuleList },
      expensive: 'list',
    }),
    async ({ principal: { tenant } }) => ({
      rules: await allWithWarnings(services, tenant, await rules.list(tenant)),
    }),
  );

  app.put(
    '/api/rules/order',
    route('admin', {
      summary: 'Put the rules in another order',
      body: RuleOrder,
      response: { 200: RuleList, ...problems(409) },
      expensive: 'rule order',
    }),
    async ({ principal, body }) => {
      const { tenant } = principal;
      if (!(await rules.order(tenant, body.ids, actorOf(principal), now()))) {
        throw badRequest('ids must name every rule of the tenant, each once; GET /api/rules lists them');
      }
      await tenancy.refresh(tenant);
      return { rules: await allWithWarnings(services, tenant, await rules.list(tenant)) };
    },
  );
}

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
    route('viewer', {
      summary: 'Explain where a notification goes, and what each rule contributes',
      description:
        'For a given notification or the id of a recorded one, by the current rules or by a draft.',
      body: ExplainRequest,
      response: { 200: RoutingOutcome, ...problems(404) },
      bodyLimit: maxDraftBytes,
      expensive: 'explain',
    }),
    async (request) => explainBy(services, request.principal.tenant, request.body, connectionSignal(request)),
  );

  app.post(
    '/api/rules/replay',
    route('admin', {
      summary: 'Replay a draft rule set over the last days of history',
      description: `Changes nothing. At most the newest ${maxReplayEntries} entries of the log are scanned.`,
      body: ReplayRequest,
      response: { 200: ReplayResponse },
      bodyLimit: maxDraftBytes,
      expensive: 'replay',
    }),
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

/** The tenant with the levels, panels, channels and on-call schedules of a draft, where it has them. */
function draftSnapshot(
  snapshot: TenantSnapshot,
  { levels, panels, channels, onCall }: Pick<ReplayRequest, 'levels' | 'panels' | 'channels' | 'onCall'>,
): DraftSurroundings {
  const known = {
    record: snapshot.record,
    channels: channels ? new Map(channels.map((channel) => [channel.id, channel])) : snapshot.channels,
    levels: levels ? new Map(levels.map((level) => [level.name, level])) : snapshot.levels,
    panels: panels ? new Map(panels.map((panel) => [panel.id, panel])) : snapshot.panels,
  };
  return { ...known, onCall: onCall ? draftPlans(onCall, known, snapshot.onCall) : snapshot.onCall };
}

async function explainBy(
  services: Services,
  tenant: TenantId,
  { notification, rules, at }: ExplainRequest,
  signal: AbortSignal,
): Promise<RoutingOutcome> {
  const { directory, history, tenancy, explainer, now } = services;
  const snapshot = await tenancy.current(tenant);
  const yieldToEventLoop = yieldUnlessAborted(signal);
  const router = rules === undefined ? snapshot.router : await draftRouter(rules, snapshot, yieldToEventLoop);
  const explain = (question: Omit<Question, 'router'>) =>
    explainer.explain(tenant, { router, ...question }, yieldToEventLoop);
  const suppressionNow = (
    { decision }: Explanation,
    of: { readonly key: string | null; readonly id?: string },
  ) => wouldSuppress(services, snapshot, { now: now(), router, decision, key: of.key, id: of.id });
  if (typeof notification === 'string') {
    const recorded = requireFound(await history.find(tenant, notification), 'notification');
    const subject = subjectOf(recorded, router);
    const explanation = await explain({ recorded, subject, at: instant(at, recorded.receivedAt) });
    // Whether a draft would throttle it is unknown.
    const throttled = rules === undefined && recorded.throttledOn !== null;
    const suppression =
      rules === undefined
        ? await suppressionOf(services, snapshot, recorded)
        : await suppressionNow(explanation, recorded);
    return outcomeOf(explanation, { snapshot, throttled, ...suppression });
  }
  const tokens = !notification.token ? [] : await directory.credentials.list(tenant, 'token');
  const subject = subjectOfRequest(notification, router, tokens);
  const explanation = await explain({ subject, at: instant(at, now()) });
  const suppression = await suppressionNow(explanation, subject);
  return outcomeOf(explanation, { snapshot, throttled: false, ...suppression });
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
