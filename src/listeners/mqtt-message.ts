/** Reads an MQTT message: JSON with Belfry's fields, or any other text. */
import { limits } from '#contract/limits.ts';
import { parseBoundedJson } from '#core/bounded-json.ts';
import type { Item } from '#integrations/format.ts';
import { type JsonObject, textOf } from '#integrations/payload-values.ts';
import { usualLevel, wordOf } from '#integrations/severity.ts';

const levels = ['success', 'info', 'warning', 'error', 'critical'];

/** Undefined for a message that is not text, and for an empty one, which deletes a retained message. */
export function itemOfMqtt(topic: string, payload: Buffer): Item | undefined {
  const text = decode(payload)?.trim();
  if (!text) return undefined;
  const fields = text.startsWith('{') ? findObject(text) : undefined;
  const title = textOf(fields?.title);
  const message = textOf(fields?.message);
  const ofTopic = topic
    .split('/')
    .findLast((part) => levels.includes(part.toLowerCase()))
    ?.toLowerCase();
  // JSON of other programs may have the same names: a lamp has a "level", and a "url" may be anything.
  if (!fields || (title ?? message) === undefined)
    return {
      title: topic,
      message: text,
      severity: ofTopic ?? 'message',
      level: ofTopic ?? 'info',
      source: topic,
    };
  const level = wordLike(fields.level);
  const word = wordOf(level ?? wordLike(fields.severity) ?? ofTopic ?? 'message');
  const isLevel = level !== undefined && limits.levelPattern.test(word);
  return {
    title: title ?? topic,
    message,
    severity: word,
    level: usualLevel(word, isLevel ? word : 'info'),
    source: textOf(fields.host, fields.ip) ?? topic,
    key: textOf(fields.key),
    url: textOf(fields.url),
  };
}

/** Numbers are ignored: each program counts in its own way. */
const wordLike = (value: unknown) => (/\D/.test(textOf(value) ?? '') ? textOf(value) : undefined);

/** Whether a topic matches a filter with `+` and `#`. */
export function takesTopic(filter: string, topic: string): boolean {
  const [wanted, given] = [filter.split('/'), topic.split('/')];
  // Topics that begin with $ belong to the broker itself.
  if (topic.startsWith('$') && (wanted[0] === '#' || wanted[0] === '+')) return false;
  const end = wanted.indexOf('#');
  const fixed = end < 0 ? wanted : wanted.slice(0, end);
  if (end < 0 ? given.length !== fixed.length : given.length < fixed.length) return false;
  return fixed.every((part, at) => part === '+' || part === given[at]);
}

function findObject(text: string): JsonObject | undefined {
  try {
    return parseBoundedJson(text) as JsonObject;
  } catch {
    return undefined;
  }
}

function decode(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
