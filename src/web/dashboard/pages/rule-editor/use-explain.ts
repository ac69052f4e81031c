/** Where a notification would go: one that is typed, or one that is recorded. */
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { mapPatternFields, noTexts } from '#contract/history/fields.ts';
import { type Labels, labelPair, labelStart } from '#contract/history/labels.ts';
import type { HistoryNotification } from '#contract/history/notification.ts';
import type { ExplainRequest, RoutingOutcome } from '#contract/routing/routing.ts';
import { notificationQuery } from '#web/dashboard/api/history.ts';
import { routingQuery } from '#web/dashboard/api/rules.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import type { TracedNotification } from '#web/dashboard/rule-text/rule-sentence.ts';
import type { DraftRules } from './draft.ts';

/** The fields of a typed notification; empty ones are not sent. */
export const emptyFields = {
  title: '',
  message: '',
  level: 'info',
  ip: '',
  ...mapPatternFields(() => ''),
  sourceIp: '',
  token: '',
  /** As `name=value` each. */
  labels: [] as readonly string[],
};
export type TypedFields = Readonly<typeof emptyFields>;

export type Subject =
  | { readonly kind: 'typed'; readonly fields: TypedFields }
  | { readonly kind: 'recorded'; readonly id: string };

export const isBlank = ({ level: _, labels, ...fields }: TypedFields): boolean =>
  labels.length === 0 && Object.values(fields).every((value) => value.trim() === '');

type Texts = Omit<TypedFields, 'labels'>;
const filled = ({ labels: _, ...fields }: TypedFields): Partial<Texts> =>
  Object.fromEntries(
    Object.entries(fields)
      .map(([field, value]) => [field, value.trim()])
      .filter(([, value]) => value !== ''),
  );

/** undefined if one of them is no `name=value`, or a name is there twice. */
function labelsFrom(pairs: readonly string[]): Labels | undefined {
  const labels = new Map(pairs.map((pair) => [labelStart(pair), pair]));
  if (labels.has('') || labels.size < pairs.length) return undefined;
  return Object.fromEntries(
    [...labels].map(([start, pair]) => [start.slice(0, -1).trim(), pair.slice(start.length).trim()]),
  );
}

function requestOf(subject: Subject): ExplainRequest['notification'] {
  if (subject.kind === 'recorded') return subject.id;
  const labels = labelsFrom(subject.fields.labels);
  return { ...filled(subject.fields), ...(labels && { labels: { ...labels } }) };
}

/** What the explanation of a rule compares. */
export function tracedOf(subject: Subject, recorded: HistoryNotification | undefined): TracedNotification {
  if (subject.kind === 'recorded')
    return recorded ? { ...recorded, level: recorded.sent.level, token: recorded.token.name } : {};
  const { level = 'info', ...fields } = filled(subject.fields);
  const { labels: _, ...noOthers } = noTexts;
  const unsent = {
    ...noOthers,
    labels: labelsFrom(subject.fields.labels) ?? {},
    sourceIp: '127.0.0.1',
    title: '',
    message: '',
    token: '',
  };
  return { ...unsent, ...fields, level: level.toLowerCase() };
}

/** A recorded notification's fields, to change them. */
export const fieldsOf = ({ title, message, sent, ...rest }: HistoryNotification): TypedFields => ({
  title,
  message,
  level: sent.level,
  ip: rest.ip ?? '',
  ...mapPatternFields((name) => rest[name] ?? ''),
  sourceIp: rest.sourceIp,
  token: rest.token.name,
  labels: Object.entries(rest.labels).map(([name, value]) => labelPair(name, value)),
});

export const isReadable = (subject: Subject): boolean =>
  subject.kind === 'recorded' || labelsFrom(subject.fields.labels) !== undefined;

/** The server is asked when nothing has been typed for this long. */
const debounceMs = 250;

export interface Explain {
  readonly subject: Subject;
  setSubject(subject: Subject): void;
  readonly recorded: HistoryNotification | undefined;
  /** The newest answer; an older one stays until the next arrives. */
  readonly outcome: RoutingOutcome | undefined;
  /** Why there is no answer to the current question. */
  readonly error: Error | null;
}

/**
 * Asks again with each change of the notification or of the rules.
 *
 * @param rules A draft of the rules; without one, the rules in force.
 * @param options.version Of the rules in force.
 * @param options.enabled Whether the rules are complete enough to be asked about.
 * @param options.id Of the recorded notification to begin with.
 */
export function useExplain(
  rules: DraftRules | undefined,
  options: { readonly version: string; readonly enabled: boolean; readonly id?: string | undefined },
): Explain {
  const tenant = useTenant();
  const [subject, setSubject] = useState<Subject>(
    options.id === undefined ? { kind: 'typed', fields: emptyFields } : { kind: 'recorded', id: options.id },
  );
  const { version } = options;
  // The same object while nothing changes: a new one on each render would be debounced without end.
  const current = useMemo(() => ({ subject, rules, version }), [subject, rules, version]);
  const [settled] = useDebouncedValue(current, debounceMs);
  const { data: recorded, error: missing } = useQuery({
    ...notificationQuery(tenant, subject.kind === 'recorded' ? subject.id : ''),
    refetchInterval: false,
    staleTime: 60_000,
    enabled: subject.kind === 'recorded',
  });
  const request = {
    notification: requestOf(settled.subject),
    ...(settled.rules && { rules: settled.rules }),
  };
  const { data: outcome, error } = useQuery({
    ...routingQuery(tenant, request, settled.version),
    enabled: options.enabled && isReadable(settled.subject),
  });
  return { subject, setSubject, recorded, outcome, error: missing ?? error };
}
