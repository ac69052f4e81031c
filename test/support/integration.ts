/** Reads payloads as the server does, without a server. */
import type { CheckedFields } from '#core/intake/notification.ts';
import { type Format, fieldsOf, type Payload, parseLevelMap, retryKeyOf } from '#integrations/format.ts';

interface Around {
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly params?: Readonly<Record<string, string>>;
}

export function payloadOf(body: unknown, { headers = {}, query = '', params = {} }: Around = {}): Payload {
  const lowered = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return {
    body,
    header: (name) => lowered.get(name.toLowerCase()),
    headerNames: [...lowered.keys()],
    query: new URLSearchParams(query),
    params,
  };
}

/** The fields of each item. */
export function read(format: Format, body: unknown, around: Around = {}): CheckedFields[] {
  const payload = payloadOf(body, around);
  const levels = parseLevelMap(payload.query.getAll('level'));
  return format.read(payload).map((item) => fieldsOf(item, levels));
}

/** The retry key of each item, as text. */
export function retryKeys(format: Format, body: unknown, around: Around = {}): (string | null)[] {
  const payload = payloadOf(body, around);
  const levels = parseLevelMap(payload.query.getAll('level'));
  return format.read(payload).map((item) => {
    if (item.identity === undefined) return null;
    const fields = fieldsOf(item, levels);
    return JSON.stringify([retryKeyOf('x', item, fields), fields]);
  });
}

/** A payload, and the notifications that it becomes. */
export interface WebhookCase {
  readonly what: string;
  readonly body: unknown;
  readonly headers?: Record<string, string>;
  /** For each item the fields to compare. */
  readonly items: readonly object[];
  /** Whether it has an identity, so that a retry is stored once. */
  readonly once?: boolean;
}
