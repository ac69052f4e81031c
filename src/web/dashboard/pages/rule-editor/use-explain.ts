import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { HistoryNotification } from '#contract/notification.ts';
import type { ExplainRequest, RoutingOutcome } from '#contract/routing.ts';
import { recordedOneQuery, routingQuery } from '#web/dashboard/api/rules.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import type { TracedNotification } from '#web/dashboard/components/rule-trace.ts';
import type { DraftRules } from './draft.ts';

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

const typedFields = ['title', 'message', 'host', 'ip', 'key', 'sourceIp', 'token'] as const;

/** As in the form: empty is not sent. */
export type Typed = Readonly<Record<(typeof typedFields)[number] | 'level', string>>;

type Subject =
  | { readonly kind: 'typed'; readonly typed: Typed }
  | { readonly kind: 'recorded'; readonly id: string };

export const nothingTyped: Typed = {
  title: '',
  message: '',
  level: 'info',
  host: '',
  ip: '',
  key: '',
  sourceIp: '',
  token: '',
};

export const isBlank = (typed: Typed): boolean => typedFields.every((field) => typed[field].trim() === '');

function askedOf(subject: Subject): ExplainRequest['notification'] {
  if (subject.kind === 'recorded') return subject.id;
  return Object.fromEntries(Object.entries(subject.typed).filter(([, value]) => value.trim() !== ''));
}

export function tracedOf(subject: Subject, recorded: HistoryNotification | undefined): TracedNotification {
  if (subject.kind === 'recorded') {
    if (!recorded) return {};
    const { title, message, sent, host, ip, key, sourceIp, token } = recorded;
    return { title, message, level: sent.level, host, ip, key, sourceIp, token: token.name };
  }
  const { title, message, level, host, ip, key, sourceIp, token } = subject.typed;
  const sent = (value: string) => (value.trim() === '' ? null : value.trim());
  return {
    title,
    message,
    level: level.trim().toLowerCase() || 'info',
    host: sent(host),
    ip: sent(ip),
    key: sent(key),
    sourceIp: sent(sourceIp) ?? '127.0.0.1',
    token,
  };
}

/** What was recorded, to be typed on. */
export const typedFrom = ({ title, message, sent, ...rest }: HistoryNotification): Typed => ({
  title,
  message,
  level: sent.level,
  host: rest.host ?? '',
  ip: rest.ip ?? '',
  key: rest.key ?? '',
  sourceIp: rest.sourceIp,
  token: rest.token.name,
});
