/** What is read from the answer of a receiver. */
import type { OutboundResponse } from '#outbound/outbound.ts';

const answerChars = 160;
const longestRetryAfterMs = 3_600_000;

/** The status and the beginning of the body in one line; a receiver that repeats a secret does not make it readable. */
export function answerLine({ status, body }: OutboundResponse, secrets: readonly string[]): string {
  let line = body.replaceAll(/[\p{C}\s]+/gu, ' ').trim();
  for (const secret of secrets) line = line.replaceAll(secret, '…');
  return `answered ${status}${line === '' ? '' : `: ${line.slice(0, answerChars)}`}`;
}

/** `Retry-After` in seconds or as a date, or the pause that the kind found; an hour at most. */
export function pauseOf({ headers }: OutboundResponse, now: number, found?: number): number | undefined {
  const pause = found ?? retryAfterOf(String(headers['retry-after'] ?? '').trim(), now);
  return pause === undefined ? undefined : Math.min(pause, longestRetryAfterMs);
}

function retryAfterOf(text: string, now: number): number | undefined {
  if (/^\d{1,9}(?:\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
