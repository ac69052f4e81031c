/** The notification that is asked about: typed, or recorded. */
import type { HistoryNotification } from '#contract/notification.ts';
import type { ExplainRequest } from '#contract/routing.ts';
import type { TracedNotification } from '#web/dashboard/pieces/rules/rule-trace.ts';

export const typedFields = ['title', 'message', 'host', 'ip', 'key', 'sourceIp', 'token'] as const;

/** As in the form: empty is not sent. */
export type Typed = Readonly<Record<(typeof typedFields)[number] | 'level', string>>;

export type Subject =
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

export function askedOf(subject: Subject): ExplainRequest['notification'] {
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
