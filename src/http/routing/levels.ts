import { Type } from 'typebox';
import { limits } from '#contract/limits.ts';
import { Level, LevelName, LevelPut } from '#contract/routing/level.ts';
import { isBuiltInLevel } from '#contract/routing/level-styles.ts';
import { rulesThatName } from '#contract/routing/rule-names.ts';
import { component } from '#contract/schema.ts';
import { badRequest, conflict } from '#core/errors.ts';
import type { TenantId } from '#core/log/route.ts';
import { actorOf } from '#core/people/access.ts';
import { NoContent, problems, route } from '../openapi/route-schemas.ts';
import type { App, Services } from '../services.ts';
import { inUse, removeUnnamed } from './removal.ts';

const LevelList = component('LevelList', { levels: Type.Array(Level) });
const Name = Type.Object({ name: LevelName });

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

/** Deletes a level that no rule and no panel uses. */
function removeUnused(services: Services, tenant: TenantId, name: string, by: string): Promise<void> {
  const { levels, panels } = services.directory;
  return removeUnnamed(services, tenant, {
    ...{ kind: 'level', name },
    rulesThatName: (rules) => rulesThatName(name, rules),
    async remove(revision) {
      const shownFrom = (await panels.list(tenant)).filter(({ display }) => display.minLevel === name);
      if (shownFrom.length > 0) throw inUse(`level ${name}`, 'panels', shownFrom);
      return levels.remove(tenant, name, by, services.now(), revision);
    },
  });
}
