/** What is kept of a receiver’s answer: its status and beginning with secrets masked, and the pause that it asks for. */
import { percentDecoded } from '#contract/percent.ts';
import { longestPauseMs } from '#core/channels/channels.ts';
import type { OutboundResponse } from '#outbound/outbound.ts';

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

/** One line, with each secret, and each part of one, replaced by an ellipsis. */
export type Mask = (text: string) => string;

/** The most characters of a text that are read. Records and answers hold fewer. */
const readChars = 4_096;
/** A shorter part of a secret is masked only as a whole word: it may be a part of a common word. */
const distinctChars = 8;
/** A shorter part is no secret. */
const shortestPart = 3;

/**
 * Masks path segments and query values of URLs, and what stands between signs, because receivers escape signs in many ways
 * (%2F, &amp;, \/) and leave letters and digits as they are. The protocol and host of an http or https URL are no secret.
 */
export function createMask(secrets: readonly string[]): Mask {
  const known = patternOf(secrets);
  return (text) => {
    const read = beginningOf(text);
    return (known ? read.replaceAll(known, '…') : read).replaceAll(/[\p{C}\s]+/gu, ' ').trim();
  };
}

/** Undefined without secrets. */
function patternOf(secrets: readonly string[]): RegExp | undefined {
  const wholeSecrets = new Set(
    secrets.flatMap((secret) => [secret, percentDecoded(secret)]).filter((whole) => whole !== ''),
  );
  const parts = new Set([...wholeSecrets, ...secrets.flatMap(partsOf)]);
  if (parts.size === 0) return undefined;
  const longestFirst = [...parts].sort((a, b) => b.length - a.length);
  const isDistinct = (part: string) => wholeSecrets.has(part) || part.length >= distinctChars;
  const words = longestFirst.filter((part) => !isDistinct(part)).map(literal);
  // In %2Fword and \u002fword, the word begins after the escape.
  const begin = String.raw`(?:(?<![A-Za-z\d])|(?<=%(?:25)*[\dA-F]{2}|\\u[\dA-F]{4}))`;
  const all = longestFirst.filter(isDistinct).map(literal);
  if (words.length > 0) all.push(String.raw`${begin}(?:${words.join('|')})(?![A-Za-z\d])`);
  return new RegExp(all.join('|'), 'gi');
}

const literal = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');

function partsOf(secret: string): string[] {
  const basic = /^basic\s+(\S+)$/i.exec(secret)?.[1] ?? '';
  const user = Buffer.from(basic, 'base64').toString('utf8');
  const pieces = [...secret.split(/[\s,]+/).flatMap(piecesOf), user].flatMap((piece) => [
    piece,
    percentDecoded(piece),
  ]);
  return [...pieces, ...pieces.flatMap((piece) => piece.split(/[^A-Za-z\d_-]+/))].filter(
    (part) => part.length >= shortestPart,
  );
}

function piecesOf(word: string): string[] {
  const url = URL.parse(word);
  // Other URLs are those of Apprise: their host may be a secret, too.
  if (!url || !/^https?:$/.test(url.protocol)) return [word.replace(/^[a-z][a-z\d+.-]*:\/\/|^whsec_/i, '')];
  const values = url.search
    .slice(1)
    .split('&')
    .map((pair) => pair.slice(pair.indexOf('=') + 1));
  return [...url.pathname.split('/'), ...values, url.hash.slice(1)];
}

/** Without the last word if that may be cut: the mask would not know the beginning of a secret. */
function beginningOf(text: string): string {
  if (text.length <= readChars) return text;
  let end = readChars;
  while (end > 0 && /[\p{L}\p{N}_%-]/u.test(text[end - 1] ?? '')) end -= 1;
  return text.slice(0, end);
}
