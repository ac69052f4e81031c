/** The routing rules, and what they would do. */
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { isCode, isTemporary } from '#client/call.ts';
import type { HistoryPage } from '#contract/history/notification.ts';
import type {
  ExplainRequest,
  ReplayRequest,
  ReplayResponse,
  RoutingOutcome,
} from '#contract/routing/routing.ts';
import type { NewRule, Rule, RulePatch, RuleWhen } from '#contract/routing/rule.ts';
import type { Api } from './call.ts';
import { listQuery } from './queries.ts';
import { type Tenant, useTenant } from './tenant.tsx';

/** The rules in the order in which they are tried. */
export const rulesQuery = (tenant: Tenant) => listQuery<Rule>(tenant, 'rules');

const rulePath = (id: string) => `/api/rules/${encodeURIComponent(id)}`;

export interface RuleChanges {
  create(rule: NewRule): Promise<Rule>;
  /** Shown at once, and taken back when the server refuses it. */
  change(id: string, patch: RulePatch): Promise<unknown>;
  /** A rule that somebody else deleted meanwhile counts as deleted. */
  remove(ids: readonly string[]): Promise<void>;
}

/** All throw the server's error. */
export function useRuleChanges(): RuleChanges {
  const { api } = useTenant();
  const client = useQueryClient();
  const { queryKey } = rulesQuery(useTenant());
  const onSettled = () => client.invalidateQueries({ queryKey, exact: true });
  const create = useMutation({
    mutationFn: (rule: NewRule) => api.post<Rule>('/api/rules', rule),
    onSettled,
  });
  const change = useMutation({
    mutationFn: ({ id, patch }: { id: string; patch: RulePatch }) => api.patch<Rule>(rulePath(id), patch),
    onMutate: async ({ id, patch }) => {
      await client.cancelQueries({ queryKey, exact: true });
      const before = client.getQueryData(queryKey);
      client.setQueryData(queryKey, (rules) =>
        rules?.map((rule) => (rule.id === id ? ({ ...rule, ...patch } as Rule) : rule)),
      );
      return before;
    },
    onError: (_, __, before) => client.setQueryData(queryKey, before),
    onSettled,
  });
  const remove = useMutation({
    mutationFn: async (ids: readonly string[]) => {
      for (const id of ids)
        await api.delete(rulePath(id)).catch((error: unknown) => {
          if (!isCode(error, 'not-found')) throw error;
        });
    },
    onSettled,
  });
  return {
    create: create.mutateAsync,
    change: (id, patch) => change.mutateAsync({ id, patch }),
    remove: remove.mutateAsync,
  };
}

/**
 * Mutes what matches from now on: a rule with an end, before all others.
 *
 * @returns the rule.
 */
export const mute = (
  api: Api,
  { name, when, until }: { readonly name: string; readonly when: RuleWhen; readonly until: Date },
): Promise<Rule> =>
  api.post<Rule>('/api/rules', {
    name: [...name].slice(0, 100).join(''),
    when,
    then: { mute: true },
    activeUntil: until.toISOString(),
    position: 1,
  } satisfies NewRule);

export const unmute = (api: Api, { id }: Rule): Promise<void> => api.delete(rulePath(id));

/** Where a notification would go. @param version of the rules in force; a change of them makes the answer outdated. */
export const routingQuery = (tenant: Tenant, request: ExplainRequest, version: string) =>
  queryOptions({
    queryKey: [...tenant.key, 'routing', request, version],
    queryFn: ({ signal }) => tenant.api.post<RoutingOutcome>('/api/rules/explain', request, { signal }),
    staleTime: 30_000,
    gcTime: 10_000,
    // For example a 429: the server answers two of a tenant at a time, and refuses a third.
    retry: (failures, error) => failures < 3 && isTemporary(error),
    retryDelay: 1_000,
  });

/** What today's rules would do with a recorded notification. */
export const explainQuery = (tenant: Tenant, id: string) =>
  queryOptions({
    queryKey: [...tenant.key, 'rules', 'explain', id],
    queryFn: () => tenant.api.post<RoutingOutcome>('/api/rules/explain', { notification: id }),
    placeholderData: () => undefined,
    staleTime: 10_000,
  });

/** Thirty days of a busy tenant take minutes; the person can cancel. */
const replayTimeoutMs = 600_000;

export const askReplay = (tenant: Tenant, request: ReplayRequest, signal: AbortSignal) =>
  tenant.api.post<ReplayResponse>('/api/rules/replay', request, { signal, timeoutMs: replayTimeoutMs });

/** The newest notifications that a query finds, to choose one. */
export const recordedQuery = (tenant: Tenant, q: string) =>
  queryOptions({
    queryKey: [...tenant.key, 'recorded', q],
    queryFn: async ({ signal }) =>
      (await tenant.api.get<HistoryPage>('/api/history', { q: q === '' ? undefined : q, limit: 8 }, signal))
        .notifications,
    retry: false,
  });
