import { uuidv7 } from 'uuidv7';
import {
  NewRule,
  Rule,
  RuleList,
  RuleOrder,
  RulePatch,
  type RuleSpec,
  type RuleWhen,
} from '#contract/routing/rule.ts';
import { type KnownNames, knownNames } from '#contract/routing/rule-names.ts';
import { createYieldToEventLoop } from '#core/concurrency.ts';
import { AppError, badRequest, notFound, requireFound } from '#core/errors.ts';
import { actorOf } from '#core/people/access.ts';
import { tokenView } from '#core/people/credentials.ts';
import type { TenantId } from '#core/ports.ts';
import { validateRule } from '#core/routing/compile-rules.ts';
import { prepareRegexes } from '#core/routing/regex/regex-budget.ts';
import {
  changedRule,
  newRule,
  requireKnownNames,
  ruleWarnings,
  withChannelIds,
} from '#core/routing/rules.ts';
import type { RuleRecord } from '#core/tenants/directory.ts';
import type { TenantSnapshot } from '#core/tenants/tenancy.ts';
import { IdPath, NoContent, problems, route } from '../openapi/route-schemas.ts';
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
    {
      ...route('admin', {
        summary: 'Create a rule',
        body: NewRule,
        response: { 201: Rule, ...problems(409) },
      }),
      bodyLimit: maxRuleBytes,
    },
    async ({ principal, body: { position, ...wanted } }, reply) => {
      const { tenant } = principal;
      const snapshot = await tenancy.current(tenant);
      const spec = withChannelIds(newRule(uuidv7(), wanted, snapshot.record.timeZone), snapshot.channels);
      await check(spec, snapshot);
      const known = await requireNames(services, tenant, spec);
      const rule = await rules.create(tenant, spec, actorOf(principal), now(), position);
      await tenancy.refresh(tenant);
      reply.code(201);
      return warned(rule, known, 'offers');
    },
  );

  app.patch(
    '/api/rules/:id',
    {
      ...route('admin', {
        summary: 'Change a rule',
        description:
          'Fields that are not named keep their value; `when`, `then` and `windows` are replaced as a whole.',
        params: IdPath,
        body: RulePatch,
        response: { 200: Rule, ...problems(409) },
      }),
      bodyLimit: maxRuleBytes,
    },
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
    async ({ principal, params }, reply) => {
      const { tenant } = principal;
      requireFound(await rules.remove(tenant, params.id, actorOf(principal), now()), 'rule');
      await tenancy.refresh(tenant);
      return reply.code(204).send(null);
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
 * @throws AppError `bad-request` for a level or token that does not exist, unless the conditions before the change named it, too.
 */
async function requireNames(services: Services, tenant: TenantId, spec: RuleSpec, before?: RuleWhen) {
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
    const spec = withChannelIds(changedRule(before, body), snapshot.channels);
    // A rule that no longer works, because its panel is gone, can still be disabled.
    if (!onlyDisables(body)) await check(spec, snapshot);
    if (body.when) await requireNames(services, tenant, spec, before.when);
    const changed = await rules.update(tenant, spec, by, now(), revision);
    if (changed) return changed;
  }
  throw new AppError('conflict', 'the rule is being changed by others: read it again, then change it');
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
  rules: readonly Pick<RuleRecord, 'when'>[],
): Promise<KnownNames> {
  const { levels } = await tenancy.get(tenant);
  const namesTokens = rules.some(({ when }) => when.token ?? when.not?.token);
  const tokens = namesTokens ? await directory.credentials.list(tenant, 'token') : [];
  return knownNames(levels.values(), tokens.map(tokenView));
}

/** A rule as it is answered. */
function warned(rule: RuleRecord, known: KnownNames, mode?: 'offers'): Rule {
  const warnings = ruleWarnings(rule.when, known, mode);
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
    route(
      'viewer',
      {
        summary: 'All rules, in the order in which they are tried',
        response: { 200: RuleList },
      },
      { expensive: 'list' },
    ),
    async ({ principal: { tenant } }) => ({
      rules: await allWithWarnings(services, tenant, await rules.list(tenant)),
    }),
  );

  app.put(
    '/api/rules/order',
    route(
      'admin',
      {
        summary: 'Put the rules in another order',
        body: RuleOrder,
        response: { 200: RuleList, ...problems(409) },
      },
      { expensive: 'rule order' },
    ),
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
