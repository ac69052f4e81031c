/**
 * Ids of ntfy: 12 letters and digits, of which three stand for the epoch and nine for the position of the entry. So the id of any event
 * says exactly where a stream continues.
 */
import { hash } from 'node:crypto';

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const [epochDigits, positionDigits] = [3, 9];

export function ntfyId(epoch: string, position: number): string {
  return markOf(epoch) + toDigits(position, positionDigits);
}

/** The position that an id of this epoch names; undefined for any other text. */
export function positionOf(epoch: string, id: string): number | undefined {
  if (!isNtfyId(id) || !id.startsWith(markOf(epoch))) return undefined;
  let position = 0;
  for (const digit of id.slice(epochDigits)) position = position * digits.length + digits.indexOf(digit);
  return Number.isSafeInteger(position) ? position : undefined;
}

export const isNtfyId = (text: string): boolean => /^[0-9A-Za-z]{12}$/.test(text);

/** The same for all notifications that are one to an app: the later one takes the place of the earlier one, without a sound. */
export const sequenceId = (...parts: readonly (string | number)[]): string =>
  hash('sha256', JSON.stringify(parts), 'base64url').slice(0, 22);

const markOf = (epoch: string) =>
  toDigits(
    Number.parseInt(hash('sha1', epoch, 'hex').slice(0, 8), 16) % digits.length ** epochDigits,
    epochDigits,
  );

function toDigits(value: number, count: number): string {
  let text = '';
  for (let rest = value; text.length < count; rest = Math.floor(rest / digits.length))
    text = digits.charAt(rest % digits.length) + text;
  return text;
}
