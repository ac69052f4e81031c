import { type QueryClient, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { isCode } from '#client/api-error.ts';
import type { HistoryNotification, HistoryPage } from '#contract/notification.ts';
import type {
  ExplainRequest,
  NotificationDetail,
  ReplayRequest,
  ReplayResponse,
  RoutingOutcome,
} from '#contract/routing.ts';
import type { NewRule, Rule, RulePatch, RuleWhen } from '#contract/rule.ts';
import { type Api, isStatus } from './call.ts';
import { type Tenant, useTenant } from './tenant.tsx';

/** The rules in the order in which they are tried. */
export const rulesQuery = (tenant: Tenant) =>
  queryOptions({
    queryKey: [...tenant.key, 'rules'],
    queryFn: async ({ signal }) =>
      (await tenant.api.get<{ rules: Rule[] }>('/api/rules', undefined, signal)).rules,
  });

interface RuleChanges {
  create(rule: NewRule): Promise<Rule>;
  /** Shown at once, and taken back when the server refuses it. */
  change(id: string, patch: RulePatch): Promise<void>;
  remove(ids: readonly string[]): Promise<void>;
}

/** All throw what the server said. */
export function useRuleChanges(): RuleChanges {
  const tenant = useTenant();
  const client = useQueryClient();
  const { queryKey } = rulesQuery(tenant);
  const done = () => client.invalidateQueries({ queryKey, exact: true });
  const create = useMutation({
    mutationFn: (rule: NewRule) => tenant.api.post<Rule>('/api/rules', rule),
    onSettled: done,
  });
  const change = useMutation({
    mutationFn: ({ id, patch }: { id: string; patch: RulePatch }) =>
      tenant.api.patch<Rule>(`/api/rules/${encodeURIComponent(id)}`, patch),
    onMutate: async ({ id, patch }) => {
      await client.cancelQueries({ queryKey, exact: true });
      return mend(client, queryKey, (rules) =>
        rules.map((rule) => (rule.id === id ? ({ ...rule, ...patch } as Rule) : rule)),
      );
    },
    onError: (_, __, before) => client.setQueryData(queryKey, before),
    onSettled: done,
  });
  const remove = useMutation({
    mutationFn: async (ids: readonly string[]) => {
      for (const id of ids) await removeRule(tenant.api, id);
    },
    onSettled: done,
  });
  return {
    create: (rule) => create.mutateAsync(rule),
    change: async (id, patch) => void (await change.mutateAsync({ id, patch })),
    remove: (ids) => remove.mutateAsync(ids),
  };
}

function mend(
  client: QueryClient,
  queryKey: readonly unknown[],
  change: (rules: readonly Rule[]) => Rule[],
): Rule[] | undefined {
  const before = client.getQueryData<Rule[]>(queryKey);
  if (before) client.setQueryData(queryKey, change(before));
  return before;
}

/** What somebody else deleted meanwhile is gone, as was wanted. */
async function removeRule(api: Api, id: string): Promise<void> {
  try {
    await api.delete(`/api/rules/${encodeURIComponent(id)}`);
  } catch (error) {
    if (!isCode(error, 'not-found')) throw error;
  }
}

/** @param version Names the rules in force: an answer from before they were changed is none. */
export const routingQuery = (tenant: Tenant, request: ExplainRequest, version: string) =>
  queryOptions({
    queryKey: [...tenant.key, 'routing', request, version],
    queryFn: ({ signal }) => tenant.api.post<RoutingOutcome>('/api/rules/explain', request, { signal }),
    staleTime: 30_000,
    gcTime: 10_000,
    // Two drafts of a tenant are looked at together; whoever writes a third asks again.
    retry: (failures, error) => failures < 3 && isStatus(error, 429),
    retryDelay: 1_000,
  });

/** Thirty days of a busy tenant take minutes; whoever waits can cancel. */
const replayTimeoutMs = 600_000;

export const askReplay = (tenant: Tenant, request: ReplayRequest, signal: AbortSignal) =>
  tenant.api.post<ReplayResponse>('/api/rules/replay', request, { signal, timeoutMs: replayTimeoutMs });

/** The newest that a query finds, to choose one of. */
export const recordedQuery = (tenant: Tenant, q: string) =>
  queryOptions({
    queryKey: [...tenant.key, 'recorded', q],
    queryFn: async ({ signal }) =>
      (await tenant.api.get<HistoryPage>('/api/history', { q: q === '' ? undefined : q, limit: 8 }, signal))
        .notifications,
    retry: false,
  });

export const recordedOneQuery = (tenant: Tenant, id: string) =>
  queryOptions({
    queryKey: [...tenant.key, 'recorded-one', id],
    queryFn: ({ signal }): Promise<HistoryNotification> =>
      tenant.api.get<NotificationDetail>(`/api/notifications/${encodeURIComponent(id)}`, undefined, signal),
    placeholderData: () => undefined,
    staleTime: 60_000,
  });

interface Mute {
  readonly name: string;
  /** What is muted, as a rule says it. */
  readonly when: RuleWhen;
  readonly until: Date;
  readonly note?: string;
}

/** Records what matches and shows it nowhere, until then; holds at once. Answers the rule, which stands first. */
export function mute(api: Api, { name, when, until, note }: Mute): Promise<Rule> {
  return api.post<Rule>('/api/rules', {
    name: [...name].slice(0, 100).join(''),
    when,
    then: { mute: true },
    activeUntil: until.toISOString(),
    position: 1,
    ...(note !== undefined && { note }),
  } satisfies NewRule);
}

export async function unmute(api: Api, { id }: Pick<Rule, 'id'>): Promise<void> {
  await api.delete(`/api/rules/${encodeURIComponent(id)}`);
}

/** What a rule must say to mean what sent this: its host; else its ip; else its title, from the token it came by. */
export function whenSame(notification: {
  readonly host: string | null;
  readonly ip: string | null;
  readonly title: string;
  readonly token: { readonly id: string };
}): RuleWhen {
  if (notification.host !== null) return { host: [notification.host] };
  if (notification.ip !== null) return { ip: [notification.ip] };
  return { token: [notification.token.id], title: { contains: notification.title } };
}
