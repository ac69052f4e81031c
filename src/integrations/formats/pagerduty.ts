import { createHash, randomUUID } from 'node:crypto';
import { labelEntries } from '#contract/history/labels.ts';
import { isPlainObject } from '#contract/plain-object.ts';
import {
  endTitle,
  type Format,
  type Item,
  type Payload,
  type Stored,
  usualLevel,
  wordOf,
} from '../format.ts';
import {
  choiceAt,
  type JsonObject,
  linesOf,
  objectAt,
  optionalObject,
  requiredText,
  type SentLabel,
  textOf,
} from '../payload.ts';

const keyPrefix = 'pagerduty:';

/** PagerDuty's Events API v2: https://developer.pagerduty.com/docs/events-api-v2/trigger-events/ */
export const pagerduty: Format = {
  read(payload) {
    const event = objectAt(payload.body);
    const action = choiceAt(event.event_action, '/event_action', ['trigger', 'acknowledge', 'resolve']);
    if (action === 'acknowledge') {
      // Nothing is stored, but it must name an alert.
      requiredText(event.dedup_key, '/dedup_key');
      return [];
    }
    return [action === 'resolve' ? resolved(event, payload) : triggered(event)];
  },
  alertKey({ body }) {
    const { event_action: action, dedup_key: key } = isPlainObject(body) ? body : {};
    const given = action === 'resolve' || action === 'acknowledge' ? textOf(key) : undefined;
    return given === undefined ? undefined : keyPrefix + given;
  },
  acknowledges: ({ body }) => isPlainObject(body) && body.event_action === 'acknowledge',
  answer: (stored, { body }) => ({
    status: 202,
    body: { ...processed, dedup_key: dedupKeyOf(stored, body) },
  }),
};

/** Its version 1, in other words: https://developer.pagerduty.com/docs/events-api-v1-overview */
export const pagerdutyV1: Format = {
  read: (payload) => pagerduty.read(asVersion2(payload)),
  alertKey: (payload) => pagerduty.alertKey?.(asVersion2(payload)),
  acknowledges: (payload) => pagerduty.acknowledges?.(asVersion2(payload)) ?? false,
  answer: (stored, payload) => ({
    status: 200,
    body: { ...processed, incident_key: dedupKeyOf(stored, asVersion2(payload).body) },
  }),
};

const processed = { status: 'success', message: 'Event processed' } as const;

const dedupKeyOf = ([stored]: readonly Stored[], body: unknown): string =>
  textOf((body as JsonObject).dedup_key) ?? stored?.fields.key?.slice(keyPrefix.length) ?? '';

/** @throws AppError `bad-request` when it is no event. */
function asVersion2(payload: Payload): Payload {
  const event = objectAt(payload.body);
  const action = choiceAt(event.event_type, '/event_type', ['trigger', 'acknowledge', 'resolve']);
  const required = action === 'trigger' ? ['description'] : ['incident_key'];
  for (const name of required) requiredText(event[name], `/${name}`);
  const { description: summary, details, incident_key, contexts, client_url } = event;
  return {
    ...payload,
    body: {
      event_action: action,
      dedup_key: incident_key,
      links: contexts,
      client_url,
      payload: { summary, severity: 'error', custom_details: details },
    },
  };
}

function triggered(event: JsonObject): Item {
  const payload = objectAt(event.payload, '/payload');
  const title = requiredText(payload.summary, '/payload/summary');
  const severity = wordOf(requiredText(payload.severity, '/payload/severity'));
  const time = textOf(payload.timestamp);
  const key = textOf(event.dedup_key) ?? madeKey(time && [title, textOf(payload.source), time]);
  return {
    ...common(event, payload, { key, title, isResolve: false }),
    severity,
    level: usualLevel(severity, 'error'),
    isFiring: true,
  };
}

function resolved(event: JsonObject, sent: Payload): Item {
  const payload = optionalObject(event.payload, '/payload');
  const key = requiredText(event.dedup_key, '/dedup_key');
  const summary = textOf(payload.summary);
  const title = summary === undefined ? endTitle('Resolved', key, sent) : `Resolved: ${summary}`;
  return {
    ...common(event, payload, { key, title, isResolve: true }),
    labels: [...labelsIn(payload), ...labelEntries(sent.alert?.labels ?? null)],
    severity: 'resolved',
    level: 'success',
  };
}

function common(
  event: JsonObject,
  payload: JsonObject,
  { key, title, isResolve }: { readonly key: string; readonly title: string; readonly isResolve: boolean },
): Omit<Item, 'severity' | 'level'> {
  const details = payload.custom_details;
  const links: unknown[] = Array.isArray(event.links) ? event.links : [];
  const [link] = links as (JsonObject | null | undefined)[];
  const time = textOf(payload.timestamp);
  return {
    title,
    message: isPlainObject(details) ? linesOf(details) : textOf(details),
    source: textOf(payload.source),
    key: keyPrefix + key,
    labels: labelsIn(payload),
    url: textOf(link?.href, event.client_url),
    identity: time && JSON.stringify([key, title, time, isResolve]),
  };
}

/** Not the details, which hold measurements and whole texts. */
const labelsIn = (payload: JsonObject): readonly SentLabel[] =>
  ['component', 'group', 'class'].map((name) => [name, textOf(payload[name])]);

/** The key that the answer contains, with which the sender resolves its alert. The same event gets the same key again. */
function madeKey(event: readonly unknown[] | undefined | ''): string {
  if (!event) return randomUUID().replaceAll('-', '');
  return createHash('sha256').update(JSON.stringify(event)).digest('hex').slice(0, 32);
}
