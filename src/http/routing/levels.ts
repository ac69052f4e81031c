import { Type } from 'typebox';
import { Level, LevelName, LevelPut } from '../../contract/level.ts';
import { limits } from '../../contract/limits.ts';
import type { RuleSpec } from '../../contract/rule.ts';
import { actorOf } from '../../core/access.ts';
import { AppError, badRequest, notFound } from '../../core/errors.ts';
import { isBuiltInLevel } from '../../core/levels.ts';
import { rulesThatName } from '../../core/routing/rules.ts';
import { problems } from '../responses.ts';
import type { App, Services } from '../services.ts';

const LevelList = Type.Object(
  { levels: Type.Array(Level) },
  { title: 'LevelList', additionalProperties: false },
);
const Name = Type.Object({ name: LevelName });

/** Levels: how serious each is, and how panels show it. */
export function levelRoutes(app: App, { directory, tenancy, now }: Services): void {
  const { levels, rules } = directory;
  const common = { tags: ['dashboard'], security: [{ key: [] }] };

  app.get(
    '/api/levels',
    {
      config: { policy: { role: 'viewer' } },
      schema: {
        ...common,
        summary: 'Levels, built-in ones first',
        response: { 200: LevelList, ...problems(401, 403) },
      },
    },
    async ({ principal }) => ({ levels: [...(await levels.list(principal.tenant))] }),
  );

  app.put(
    '/api/levels/:name',
    {
      config: { policy: { role: 'admin' } },
      schema: {
        ...common,
        summary: 'Restyle a level, or make one',
        description: 'Fields that are not named keep their value; a new level starts as info looks.',
        params: Name,
        body: LevelPut,
        response: { 200: Level, ...problems(400, 401, 403, 503) },
      },
    },
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
    {
      config: { policy: { role: 'admin' } },
      schema: {
        ...common,
        summary: 'Delete a custom level',
        description:
          'Refused while a rule names it. History keeps its notifications. A level that comes again is registered again, with the look of info.',
        params: Name,
        response: { 204: Type.Null({ description: 'Deleted.' }), ...problems(400, 401, 403, 404, 409, 503) },
      },
    },
    async ({ principal, params: { name } }, reply) => {
      const { tenant } = principal;
      if (isBuiltInLevel(name))
        throw new AppError('conflict', `${name} is built in: it can be restyled, not deleted`);
      const users = rulesThatName(name, (await rules.set(tenant)).rules);
      if (users.length > 0) throw inUse(name, users);
      if (!(await levels.remove(tenant, name, actorOf(principal), now()))) throw notFound('level');
      await tenancy.refresh(tenant);
      return reply.code(204).send(null);
    },
  );
}

const rulesTold = 5;

function inUse(level: string, rules: readonly RuleSpec[]): AppError {
  const names = rules.slice(0, rulesTold).map(({ name }) => `"${name}"`);
  const more = rules.length > rulesTold ? ` and ${rules.length - rulesTold} more` : '';
  return new AppError(
    'conflict',
    `rules name the level ${level}: ${names.join(', ')}${more}; change them first`,
  );
}
