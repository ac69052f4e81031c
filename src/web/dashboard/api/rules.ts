import { type QueryClient, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { isCode } from '#client/api-error.ts';
import type { NewRule, Rule, RulePatch } from '#contract/rule.ts';
import type { Api } from './call.ts';
import { type Tenant, useTenant } from './tenant.tsx';

/** The rules in the order in which they are tried. */
export const rulesQuery = (tenant: Tenant) =>
  queryOptions({
    queryKey: [...tenant.key, 'rules'],
    queryFn: async ({ signal }) =>
      (await tenant.api.get<{ rules: Rule[] }>('/api/rules', undefined, signal)).rules,
  });

export interface RuleChanges {
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
