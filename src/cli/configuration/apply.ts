/** Reads a tenant's configuration from the server, and applies a plan to it. */
import { ApiError } from '#client/call.ts';
import type { OnCallEntry } from '#contract/configuration.ts';
import type { OnCallCreate } from '#contract/routing/on-call.ts';
import type { RuleCreate } from '#contract/routing/rule.ts';
import { Failure } from '../failure.ts';
import type { SecretValues } from './channels.ts';
import type { Connection } from './connection.ts';
import {
  type Current,
  onCallToSend,
  type Path,
  requireDistinctNames,
  ruleToSend,
  type WholeRule,
} from './entries.ts';
import { type ConfigurationFile, pathOfPointer } from './file.ts';
import type { Plan, PlannedRule } from './plan.ts';

export async function readCurrent({ request }: Connection): Promise<Current> {
  const [
    { levels },
    { panels },
    { rules },
    { searches },
    { tokens },
    { channels },
    { mappings },
    { schedules },
  ] = await Promise.all([
    request<Pick<Current, 'levels'>>('GET', '/api/levels'),
    request<Pick<Current, 'panels'>>('GET', '/api/panels'),
    request<Pick<Current, 'rules'>>('GET', '/api/rules'),
    request<Pick<Current, 'searches'>>('GET', '/api/searches'),
    request<Pick<Current, 'tokens'>>('GET', '/api/tokens'),
    request<Pick<Current, 'channels'>>('GET', '/api/channels'),
    request<Pick<Current, 'mappings'>>('GET', '/api/mappings'),
    request<{ schedules: Current['onCall'] }>('GET', '/api/on-call'),
  ]);
  return { levels, panels, rules, searches, tokens, channels, mappings, onCall: schedules };
}

export interface ApplyOptions {
  readonly file: ConfigurationFile;
  readonly prune: boolean;
  /** The secrets of channels. */
  readonly values: SecretValues;
}

/**
 * Makes the changes one by one. Each may name what earlier ones created, and nothing is deleted before its replacement exists.
 * If one fails, the earlier ones stay, and applying the file again makes the others.
 *
 * @throws Failure with the line and column of the entry that the server refused.
 */
export async function applyPlan(connection: Connection, plan: Plan, options: ApplyOptions): Promise<void> {
  const { request } = connection;
  const { file, prune } = options;
  const at = (path: readonly (string | number)[], work: Promise<unknown>) => withLocation(file, path, work);
  for (const { entry, index } of [...plan.levels.created, ...plan.levels.updated]) {
    const { name, ...style } = entry;
    await at(['levels', index], request('PUT', `/api/levels/${encodeURIComponent(name)}`, style));
  }
  for (const { entry, index } of [...plan.mappings.created, ...plan.mappings.updated]) {
    const { name, ...mapping } = entry;
    await at(['mappings', index], request('PUT', `/api/mappings/${name}`, mapping));
  }
  await applyChannels(connection, plan, options);
  const panelIds = await applyPanels(connection, plan, file);
  await applyOnCall(connection, plan, { file, panelIds });
  await applyRules(connection, plan, { ...options, panelIds });
  for (const { known, entry, index } of plan.searches.updated)
    await at(['searches', index], request('PUT', `/api/searches/${known.id}`, entry));
  if (prune)
    for (const section of ['searches', 'onCall', 'panels', 'channels', 'mappings', 'levels'] as const)
      for (const known of plan[section].extra) {
        const key = 'id' in known ? known.id : known.name;
        await ignoreNotFound(
          request('DELETE', `/api/${section === 'onCall' ? 'on-call' : section}/${encodeURIComponent(key)}`),
        );
      }
  for (const { entry, index } of plan.searches.created)
    await at(['searches', index], request('POST', '/api/searches', entry));
}

async function applyChannels(
  { request }: Connection,
  { channels }: Plan,
  { file, values }: ApplyOptions,
): Promise<void> {
  for (const { entry, index } of channels.created) {
    const body = { ...entry, secrets: values.get(entry.name) ?? {} };
    await withLocation(file, ['channels', index], request('POST', '/api/channels', body));
  }
  for (const { known, entry, fields, index } of channels.updated) {
    const { name, enabled, settings } = entry;
    const secrets = values.get(name) ?? {};
    const changes = (part: string) => fields.some(({ field }) => field.startsWith(part));
    const changesSettings = changes('settings');
    const patch = {
      ...(changes('enabled') && { enabled }),
      ...(changesSettings && { settings }),
      // With another address the server requires all of them again. An empty object would not keep them: it seals them anew.
      ...(Object.keys(secrets).length > 0 && (changesSettings || changes('secrets')) && { secrets }),
    };
    await withLocation(file, ['channels', index], request('PATCH', `/api/channels/${known.id}`, patch));
  }
}

async function applyPanels({ request }: Connection, plan: Plan, file: ConfigurationFile) {
  const { created, updated } = plan.panels;
  for (const { entry, index } of created) {
    const { name, kind, tags, location, display } = entry;
    const register = {
      name,
      ...(kind && { kind }),
      ...(tags && { tags }),
      ...(location !== undefined && { location }),
    };
    await withLocation(
      file,
      ['panels', index],
      request<{ id: string }>('POST', '/api/panels', register).then(({ id }) =>
        display ? request('PATCH', `/api/panels/${id}`, { display }) : undefined,
      ),
    );
  }
  for (const { known, entry, index } of updated) {
    const { name: _, ...patch } = entry;
    await withLocation(file, ['panels', index], request('PATCH', `/api/panels/${known.id}`, patch));
  }
  return panelIdsOf(await request<Pick<Current, 'panels'>>('GET', '/api/panels'));
}

async function applyOnCall(
  { request }: Connection,
  { onCall }: Plan,
  options: Pick<RulesOptions, 'file' | 'panelIds'>,
): Promise<void> {
  const { file } = options;
  for (const { entry, index } of onCall.created) {
    const schedule = onCallOf({ entry, index }, options);
    await withLocation(file, ['onCall', index], request('POST', '/api/on-call', schedule));
  }
  for (const { known, entry, index } of onCall.updated) {
    const schedule = onCallOf({ entry, index }, options);
    await withLocation(file, ['onCall', index], request('PATCH', `/api/on-call/${known.id}`, schedule));
  }
}

/** An on-call schedule of the file as the API takes it. @throws Failure when it names an unknown panel. */
export const onCallOf = (
  { entry, index }: { readonly entry: OnCallEntry; readonly index: number },
  { panelIds, file }: Pick<RulesOptions, 'file' | 'panelIds'>,
): OnCallCreate =>
  onCallToSend(entry, panelIds, (place, name) => unknownPanel(file, ['onCall', index, ...place], name));

const unknownPanel = (file: ConfigurationFile, path: Path, name: string): Failure =>
  file.problem(path, `there is no panel "${name}", neither in this file nor on the server`);

export function panelIdsOf({ panels }: Pick<Current, 'panels'>): ReadonlyMap<string, string> {
  return new Map(panels.map(({ id, name }) => [name, id]));
}

interface RulesOptions extends ApplyOptions {
  readonly panelIds: ReadonlyMap<string, string>;
}

/** A rule of the file as the API takes it. @throws Failure when it names an unknown panel. */
export function ruleOf(
  { entry, index }: { readonly entry: WholeRule; readonly index: number },
  panelIds: ReadonlyMap<string, string>,
  file: ConfigurationFile,
): RuleCreate {
  return ruleToSend(entry, panelIds, (place, name) => unknownPanel(file, ['rules', index, ...place], name));
}

async function applyRules(connection: Connection, plan: Plan, options: RulesOptions): Promise<void> {
  const { request } = connection;
  const { file, prune, panelIds } = options;
  const { created, updated, extra } = plan.rules;
  // All are prepared before the first is sent: an unknown panel must not stop it half-way.
  const changes = updated.map((each) => ({ ...each, rule: ruleOf(each, panelIds, file) }));
  const additions = created.map((each) => ({ ...each, rule: ruleOf(each, panelIds, file) }));
  for (const { known, index, rule } of changes)
    await withLocation(file, ['rules', index], request('PATCH', `/api/rules/${known.id}`, rule));
  for (const { entry, index, rule } of additions) {
    const position = 1 + plan.order.findIndex(({ name }) => name === entry.name);
    await withLocation(file, ['rules', index], request('POST', '/api/rules', { ...rule, position }));
  }
  if (prune) for (const { id } of extra) await ignoreNotFound(request('DELETE', `/api/rules/${id}`));
  if (additions.length > 0)
    await removeDuplicates(connection, new Set(additions.map(({ entry }) => entry.name)));
  if (additions.length > 0 || plan.isReordered) await putInOrder(connection, plan.order);
}

/**
 * Two runs that apply one file at the same moment both create its new rules. The oldest rule of each name stays: ids are in the
 * order of their creation, so both runs keep the same rule.
 */
async function removeDuplicates({ request }: Connection, created: ReadonlySet<string>): Promise<void> {
  const { rules } = await request<Pick<Current, 'rules'>>('GET', '/api/rules');
  const oldest = new Set<string>();
  for (const { id, name } of rules.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    if (oldest.has(name) && created.has(name)) await ignoreNotFound(request('DELETE', `/api/rules/${id}`));
    oldest.add(name);
  }
}

const orderAttempts = 20;

/** A rule that somebody else created meanwhile stays behind the rule that it follows. */
async function putInOrder({ request }: Connection, order: readonly PlannedRule[]): Promise<void> {
  const rank = new Map(order.map(({ name }, i) => [name, i]));
  for (let attempt = 1; ; attempt += 1) {
    const { rules } = await request<Pick<Current, 'rules'>>('GET', '/api/rules');
    let last = -1;
    const ranked = rules.map((rule) => {
      const own = rank.get(rule.name);
      if (own !== undefined) last = own;
      return { id: rule.id, at: own ?? last };
    });
    const ids = ranked.toSorted((a, b) => a.at - b.at).map(({ id }) => id);
    if (ids.every((id, i) => id === rules[i]?.id)) return;
    try {
      await request('PUT', '/api/rules/order', { ids });
      return requireDistinctNames(rules);
    } catch (error) {
      const isChanged = error instanceof ApiError && (error.status === 400 || error.status === 409);
      if (!isChanged || attempt === orderAttempts) throw error;
    }
  }
}

/** Somebody else may have deleted it already. */
async function ignoreNotFound(deletion: Promise<unknown>): Promise<void> {
  try {
    await deletion;
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  }
}

/** Adds the place in the file to an error of the server. */
async function withLocation(
  file: ConfigurationFile,
  path: readonly (string | number)[],
  work: Promise<unknown>,
): Promise<void> {
  try {
    await work;
  } catch (error) {
    throw locatedError(file, path, error);
  }
}

export function locatedError(
  file: ConfigurationFile,
  path: readonly (string | number)[],
  error: unknown,
): unknown {
  if (!(error instanceof ApiError) || error.status < 400 || error.status >= 500) return error;
  if (['unauthorized', 'forbidden', 'tenant.suspended', 'rate-limited'].includes(error.code ?? ''))
    return error;
  const inner = pathOfPointer(error.place.pointer ?? '');
  const field = inner.join('.');
  const message = error.message.startsWith(`${field}: `)
    ? error.message.slice(field.length + 2)
    : error.message;
  const failure = file.problem([...path, ...inner], message);
  return error.status === 409 ? new Failure(failure.message, 1) : failure;
}
