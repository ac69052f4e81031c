import { uuidv7 } from 'uuidv7';
import { NewRule, Rule, RuleList, RuleOrder, RulePatch, type RuleSpec } from '#contract/rule.ts';
import { actorOf } from '#core/access.ts';
import type { RuleRecord } from '#core/directory.ts';
import { AppError, badRequest, notFound, requireFound } from '#core/errors.ts';
import type { TenantId } from '#core/ports.ts';
import { validateRule } from '#core/routing/compile-rules.ts';
import { prepareRegexes } from '#core/routing/regex-budget.ts';
import { changedRule, newRule, withChannelIds } from '#core/routing/rules.ts';
import type { TenantSnapshot } from '#core/tenancy.ts';
import { createYieldToEventLoop } from '#core/yield-to-event-loop.ts';
import { IdPath, NoContent, problems, route } from '../route-schemas.ts';
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
      const snapshot = await tenancy.get(tenant);
      const spec = withChannelIds(newRule(uuidv7(), wanted, snapshot.record.timeZone), snapshot.channels);
      await check(spec, snapshot);
      const rule = await rules.create(tenant, spec, actorOf(principal), now(), position);
      await tenancy.refresh(tenant);
      reply.code(201);
      return rule;
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
      return rule;
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

/** Fields that are not named keep their current value, even when two people change the rule at the same time. */
async function changeRule(
  { directory: { rules }, tenancy, now }: Services,
  tenant: TenantId,
  id: string,
  { body, by }: { readonly body: RulePatch; readonly by: string },
): Promise<RuleRecord> {
  for (let attempt = 0; attempt < changeAttempts; attempt++) {
    const { revision, rules: known } = await rules.set(tenant);
    const before = known.find((rule) => rule.id === id);
    if (!before) throw notFound('rule');
    const snapshot = await tenancy.get(tenant);
    const spec = withChannelIds(changedRule(before, body), snapshot.channels);
    // A rule that no longer works, because its panel is gone, can still be disabled.
    if (!onlyDisables(body)) await check(spec, snapshot);
    const changed = await rules.update(tenant, spec, by, now(), revision);
    if (changed) return changed;
  }
  throw new AppError('conflict', 'the rule is being changed by others: read it again, then change it');
}

function onlyDisables(patch: RulePatch): boolean {
  return patch.enabled === false && Object.keys(patch).length === 1;
}

function listRoutes(app: App, { directory: { rules }, tenancy, now }: Services): void {
  app.get(
    '/api/rules',
    route('viewer', {
      summary: 'All rules, in the order in which they are tried',
      response: { 200: RuleList },
    }),
    async ({ principal }) => ({ rules: [...(await rules.list(principal.tenant))] }),
  );

  app.put(
    '/api/rules/order',
    route('admin', {
      summary: 'Put the rules in another order',
      body: RuleOrder,
      response: { 200: RuleList, ...problems(409) },
    }),
    async ({ principal, body }) => {
      const { tenant } = principal;
      if (!(await rules.order(tenant, body.ids, actorOf(principal), now()))) {
        throw badRequest('ids must name every rule of the tenant, each once; GET /api/rules lists them');
      }
      await tenancy.refresh(tenant);
      return { rules: [...(await rules.list(tenant))] };
    },
  );
}
