/** Reads the answer of a receiver. */
import { longestPauseMs } from '#core/channels/channels.ts';
import type { OutboundResponse } from '#outbound/outbound.ts';
import type { Mask } from './mask.ts';

const answerChars = 160;

/** The status and the beginning of the body. */
export function answerLine({ status, body }: OutboundResponse, mask: Mask): string {
  // Not with half a character.
  const line = mask(body)
    .slice(0, answerChars)
    .replace(/[\uD800-\uDBFF]$/, '')
    .trimEnd();
  return `answered ${status}${line === '' ? '' : `: ${line}`}`;
}

/** `Retry-After` in seconds or as a date, or the pause that the body names; an hour at most. */
export function pauseOf({ headers }: OutboundResponse, now: number, found?: number): number | undefined {
  const pause = found ?? retryAfterOf(String(headers['retry-after'] ?? '').trim(), now);
  return pause === undefined ? undefined : Math.min(pause, longestPauseMs);
}

function retryAfterOf(text: string, now: number): number | undefined {
  if (/^\d{1,9}(?:\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
