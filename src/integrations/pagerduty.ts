import { createHash, randomUUID } from 'node:crypto';
import { isPlainObject } from '#contract/plain-object.ts';
import type { Format, Item } from './format.ts';
import {
  choiceAt,
  type JsonObject,
  linesOf,
  objectAt,
  optionalObject,
  requiredText,
  textOf,
} from './payload-values.ts';
import { usualLevel, wordOf } from './severity.ts';

const keyPrefix = 'pagerduty:';

/** PagerDuty's Events API v2: https://developer.pagerduty.com/docs/events-api-v2/trigger-events/ */
export const pagerduty: Format = {
  read({ body }) {
    const event = objectAt(body);
    const action = choiceAt(event.event_action, '/event_action', ['trigger', 'acknowledge', 'resolve']);
    // An acknowledgement is not stored: nobody needs to see it.
    return action === 'acknowledge' ? [] : [itemOf(event, action === 'resolve')];
  },
  answer: ([stored], { body }) => {
    const { dedup_key } = body as JsonObject;
    return {
      status: 202,
      body: {
        status: 'success',
        message: 'Event processed',
        dedup_key: textOf(dedup_key) ?? stored?.fields.key?.slice(keyPrefix.length) ?? '',
      },
    };
  },
};

function itemOf(event: JsonObject, isResolve: boolean): Item {
  const payload = isResolve ? optionalObject(event.payload, '/payload') : objectAt(event.payload, '/payload');
  const given = isResolve ? requiredText(event.dedup_key, '/dedup_key') : textOf(event.dedup_key);
  const title = isResolve
    ? `Resolved: ${textOf(payload.summary) ?? given}`
    : requiredText(payload.summary, '/payload/summary');
  const severity = isResolve ? 'resolved' : wordOf(requiredText(payload.severity, '/payload/severity'));
  const details = payload.custom_details;
  const links: unknown[] = Array.isArray(event.links) ? event.links : [];
  const [link] = links as (JsonObject | null | undefined)[];
  const time = textOf(payload.timestamp);
  const key = given ?? madeKey(time && [title, textOf(payload.source), time]);
  return {
    title,
    message: isPlainObject(details) ? linesOf(details) : textOf(details),
    severity,
    level: usualLevel(severity, 'error'),
    source: textOf(payload.source),
    key: keyPrefix + key,
    isFiring: !isResolve,
    url: textOf(link?.href, event.client_url),
    identity: time && JSON.stringify([key, title, time, isResolve]),
  };
}

/** The key that the answer contains, with which the sender resolves its alert. The same event gets the same key again. */
function madeKey(event: readonly unknown[] | undefined | ''): string {
  if (!event) return randomUUID().replaceAll('-', '');
  return createHash('sha256').update(JSON.stringify(event)).digest('hex').slice(0, 32);
}
