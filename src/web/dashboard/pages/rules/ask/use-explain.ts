import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { HistoryNotification } from '#contract/notification.ts';
import type { RoutingOutcome } from '#contract/routing.ts';
import { recordedOneQuery, routingQuery } from '#web/dashboard/api/routing.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import type { DraftRules } from '../editor/draft-set.ts';
import { askedOf, nothingTyped, type Subject } from './subject.ts';

/** So long nothing is typed before the server is asked. */
const restMs = 250;

export interface Explain {
  readonly subject: Subject;
  setSubject(subject: Subject): void;
  readonly recorded: HistoryNotification | undefined;
  /** The newest answer; an older one stands until the next is there. */
  readonly outcome: RoutingOutcome | undefined;
  /** Why there is no answer to what is asked now. */
  readonly error: Error | null;
}

/**
 * Asks where a notification would go, anew with each change of it or of the rules.
 *
 * @param rules A draft of the rules; without one it is asked of those in force.
 * @param options.version Of the rules in force.
 * @param options.isAsking Whether the rules are whole enough to be asked about.
 */
export function useExplain(
  rules: DraftRules | undefined,
  options: { readonly version: string; readonly isAsking: boolean; readonly begin?: string | undefined },
): Explain {
  const tenant = useTenant();
  const [subject, setSubject] = useState<Subject>(
    options.begin === undefined
      ? { kind: 'typed', typed: nothingTyped }
      : { kind: 'recorded', id: options.begin },
  );
  const { version } = options;
  // The same object while nothing changes: another one each time would be waited for, and drawn, without end.
  const asking = useMemo(() => ({ subject, rules, version }), [subject, rules, version]);
  const [asked] = useDebouncedValue(asking, restMs);
  const { data: recorded, error: missing } = useQuery({
    ...recordedOneQuery(tenant, subject.kind === 'recorded' ? subject.id : ''),
    enabled: subject.kind === 'recorded',
  });
  const { data: outcome, error } = useQuery({
    ...routingQuery(
      tenant,
      { notification: askedOf(asked.subject), ...(asked.rules && { rules: asked.rules }) },
      asked.version,
    ),
    enabled: options.isAsking,
  });
  return { subject, setSubject, recorded, outcome, error: missing ?? error };
}
