import { Type } from 'typebox';
import { limits } from '#contract/limits.ts';
import { Level, LevelName, LevelPut } from '#contract/routing/level.ts';
import { isBuiltInLevel } from '#contract/routing/level-styles.ts';
import { rulesThatName } from '#contract/routing/rule-names.ts';
import { component } from '#contract/schema.ts';
import { type AppError, badRequest, conflict, notFound } from '#core/errors.ts';
import type { TenantId } from '#core/log/route.ts';
import { actorOf } from '#core/people/access.ts';
import { NoContent, problems, route } from '../openapi/route-schemas.ts';
import type { App, Services } from '../services.ts';

const LevelList = component('LevelList', { levels: Type.Array(Level) });
const Name = Type.Object({ name: LevelName });
/** How often a deletion is tried again when someone changes the rules at the same time. */
const removeAttempts = 50;

/** Levels: their rank, and how panels show them. */
export function levelRoutes(app: App, services: Services): void {
  const { directory, tenancy, now } = services;
  const { levels } = directory;

  app.get(
    '/api/levels',
    route('viewer', { summary: 'Levels, built-in ones first', response: { 200: LevelList } }),
    async ({ principal }) => ({ levels: [...(await levels.list(principal.tenant))] }),
  );

  app.put(
    '/api/levels/:name',
    route('admin', {
      summary: 'Restyle or create a level',
      description: 'Fields that are not named keep their value; a new level starts with the look of info.',
      params: Name,
      body: LevelPut,
      response: { 200: Level },
    }),
    async ({ principal, params, body }) => {
      const level = await levels.put(principal.tenant, params.name, body, actorOf(principal), now());
      if (!level) {
        throw badRequest(
          `there are ${limits.customLevelsPerTenant} custom levels already: delete one you do not use`,
        );
      }
      await tenancy.refresh(principal.tenant);
      return level;
    },
  );

  app.delete(
    '/api/levels/:name',
    route('admin', {
      summary: 'Delete a custom level',
      description:
        'Refused while a rule, or the minLevel of a panel, names it. History keeps its notifications. If it is sent again, it is registered again with the look of info.',
      params: Name,
      response: { 204: NoContent, ...problems(409) },
    }),
    async ({ principal, params: { name } }) => {
      const { tenant } = principal;
      if (isBuiltInLevel(name)) throw conflict(`${name} is built in: it can be restyled, not deleted`);
      await removeUnused(services, tenant, name, actorOf(principal));
      services.metrics.of(tenant).forgetLevel(name);
      await tenancy.refresh(tenant);
    },
  );
}

/** Deletes a level that no rule and no panel uses. Tries again when rules or panels change at the same time. */
async function removeUnused(
  { directory: { levels, panels, rules }, now }: Services,
  tenant: TenantId,
  name: string,
  by: string,
): Promise<void> {
  for (let attempt = 0; attempt < removeAttempts; attempt++) {
    const { revision, rules: inForce } = await rules.set(tenant);
    const users = rulesThatName(name, inForce);
    if (users.length > 0) throw inUse(name, 'rules', users);
    const shownFrom = (await panels.list(tenant)).filter(({ display }) => display.minLevel === name);
    if (shownFrom.length > 0) throw inUse(name, 'panels', shownFrom);
    const removed = await levels.remove(tenant, name, by, now(), revision);
    if (removed) return;
    if (removed === false) throw notFound('level');
  }
  throw conflict('the rules or panels are being changed by others: try again');
}

const maxNamesInError = 5;

function inUse(
  level: string,
  what: 'rules' | 'panels',
  users: readonly { readonly name: string }[],
): AppError {
  const names = users.slice(0, maxNamesInError).map(({ name }) => `"${name}"`);
  const more = users.length > maxNamesInError ? ` and ${users.length - maxNamesInError} more` : '';
  return conflict(`${what} name the level ${level}: ${names.join(', ')}${more}; change them first`);
}
