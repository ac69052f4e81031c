import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { Rule } from '#contract/routing/rule.ts';
import { rulesQuery } from '#web/dashboard/api/rules.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';

/** Moves within this time are saved together. */
const settleMs = 400;

export interface RuleOrder {
  /** The rules in the wanted order, saved or not. */
  readonly rules: readonly Rule[];
  readonly error: unknown;
  /** Moves a rule to an index. The list changes at once and is saved soon after; if saving fails, the move is undone. */
  move(id: string, place: number): void;
  forgetError(): void;
}

export function useRuleOrder(known: readonly Rule[]): RuleOrder {
  const tenant = useTenant();
  const client = useQueryClient();
  const [wanted, setWanted] = useState<readonly string[]>();
  const [error, setError] = useState<unknown>();
  const latest = useRef(wanted);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const isSaving = useRef(false);
  const { mutateAsync } = useMutation({
    mutationFn: (ids: readonly string[]) => tenant.api.put<{ rules: Rule[] }>('/api/rules/order', { ids }),
  });

  const want = (ids: readonly string[] | undefined) => {
    latest.current = ids;
    setWanted(ids);
  };
  const save = async () => {
    timer.current = undefined;
    const ids = latest.current;
    if (!ids || isSaving.current) return;
    isSaving.current = true;
    try {
      const { rules } = await mutateAsync(ids);
      client.setQueryData(rulesQuery(tenant).queryKey, rules);
      if (latest.current === ids) want(undefined);
    } catch (reason) {
      want(undefined);
      setError(reason);
      void client.invalidateQueries({ queryKey: rulesQuery(tenant).queryKey, exact: true });
    }
    isSaving.current = false;
    if (latest.current) void save();
  };
  const saveLatest = useRef(save);
  saveLatest.current = save;
  // A move is saved even if the person leaves the page at once.
  useEffect(
    () => () => {
      if (timer.current === undefined) return;
      clearTimeout(timer.current);
      void saveLatest.current();
    },
    [],
  );

  const rules = useMemo(() => (wanted ? inOrder(known, wanted) : known), [known, wanted]);
  return {
    rules,
    error,
    forgetError: () => setError(undefined),
    move(id, place) {
      const ids = rules.map((rule) => rule.id).filter((each) => each !== id);
      ids.splice(place, 0, id);
      setError(undefined);
      want(ids);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => void saveLatest.current(), settleMs);
    },
  };
}

/** Rules that the order does not contain, because they are new, come last. */
function inOrder(rules: readonly Rule[], ids: readonly string[]): readonly Rule[] {
  const places = new Map(ids.map((id, place) => [id, place]));
  return rules.toSorted((a, b) => (places.get(a.id) ?? ids.length) - (places.get(b.id) ?? ids.length));
}
