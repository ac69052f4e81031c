import { queryOptions, useQuery } from '@tanstack/react-query';
import type { Level } from '#contract/level.ts';
import { type Tenant, useTenant } from './tenant.tsx';

export const levelsQuery = (tenant: Tenant) =>
  queryOptions({
    queryKey: [...tenant.key, 'levels'],
    queryFn: async ({ signal }) =>
      (await tenant.api.get<{ levels: Level[] }>('/api/levels', undefined, signal)).levels,
    staleTime: 60_000,
  });

/** The tenant's levels by name; empty until they are here. */
export function useLevels(): ReadonlyMap<string, Level> {
  const { data } = useQuery({
    ...levelsQuery(useTenant()),
    select: byName,
  });
  return data ?? none;
}

/** One map for one answer, however many rows ask for it. */
const maps = new WeakMap<readonly Level[], ReadonlyMap<string, Level>>();

function byName(levels: readonly Level[]): ReadonlyMap<string, Level> {
  const known = maps.get(levels) ?? new Map(levels.map((level) => [level.name, level]));
  maps.set(levels, known);
  return known;
}

const none: ReadonlyMap<string, Level> = new Map();
