/** Reads the answer of a receiver. */
import type { OutboundResponse } from '#outbound/outbound.ts';

const answerChars = 160;
const longestRetryAfterMs = 3_600_000;

/** A receiver's text in one line, with the channel's secrets masked. */
export function lineOf(words: string, secrets: readonly string[]): string {
  let line = words;
  for (const secret of secrets) if (secret !== '') line = line.replaceAll(secret, '…');
  return line.replaceAll(/[\p{C}\s]+/gu, ' ').trim();
}

/** The status and the beginning of the body. */
export function answerLine({ status, body }: OutboundResponse, secrets: readonly string[]): string {
  const line = lineOf(body, secrets);
  return `answered ${status}${line === '' ? '' : `: ${line.slice(0, answerChars)}`}`;
}

/** `Retry-After` in seconds or as a date, or the pause that the body names; an hour at most. */
export function pauseOf({ headers }: OutboundResponse, now: number, found?: number): number | undefined {
  const pause = found ?? retryAfterOf(String(headers['retry-after'] ?? '').trim(), now);
  return pause === undefined ? undefined : Math.min(pause, longestRetryAfterMs);
}

function retryAfterOf(text: string, now: number): number | undefined {
  if (/^\d{1,9}(?:\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
