import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { fieldValuesQuery } from '#web/dashboard/api/field-values.ts';
import { useLevels } from '#web/dashboard/api/levels.ts';
import { type Tenant, useTenant } from '#web/dashboard/api/tenant.tsx';
import { toDateTimeField } from '#web/dashboard/pieces/time/wall-clock.ts';
import {
  type CompletionAsk,
  fitting,
  type QueryKey,
  queryKeys,
  states,
} from '#web/dashboard/query/completion.ts';
import { quickRanges } from '#web/dashboard/query/time-range.ts';

const most = 10;
const settleMs = 120;
/** Keys whose values the server knows. */
const served = ['host', 'ip', 'source', 'token', 'panel', 'rule', 'key'] as const;

/** What can stand at the caret, the likeliest first. */
export function useCompletions(ask: CompletionAsk | undefined): readonly string[] {
  const tenant = useTenant();
  const levels = useLevels();
  const key = ask?.key;
  const asked = served.find((each) => each === key);
  const [prefix] = useDebouncedValue(ask?.prefix ?? '', settleMs);
  const { data } = useQuery({
    ...fieldValuesQuery(tenant, asked ?? 'host', prefix.slice(0, 255)),
    enabled: asked !== undefined,
    // Values of another key are no stand-in.
    placeholderData: (previous, query) => (query?.queryKey.at(-2) === key ? previous : undefined),
  });
  if (!ask) return [];
  if (key === undefined) return fitting(queryKeys, ask.prefix, queryKeys.length);
  if (asked) return fitting(data ?? [], ask.prefix, most);
  if (key === 'level') return fitting(levelChoices([...levels.values()], ask), ask.prefix, most * 2);
  return fitting(fixed(key, tenant), ask.prefix, most);
}

function levelChoices(
  levels: readonly { readonly name: string; readonly rank: number }[],
  { operator, prefix }: CompletionAsk,
): string[] {
  const names = levels.toSorted((a, b) => b.rank - a.rank).map(({ name }) => name);
  if (operator !== '' || prefix !== '') return names;
  return [...names, ...names.slice(1, -1).map((name) => `>=${name}`)];
}

function fixed(key: QueryKey, { timeZone }: Tenant): readonly string[] {
  if (key === 'is') return states;
  if (key === 'since') return quickRanges;
  const day = (ago: number) => toDateTimeField(Date.now() - ago * 86_400_000, timeZone);
  return [...[0, 1, 7].map((ago) => day(ago).slice(0, 10)), `${day(0).slice(0, 13)}:00`];
}
