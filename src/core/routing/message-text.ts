/** Texts of messages for people on phones and in channels, cut to what their receivers take. */

/** At most `most` UTF-16 units, the strictest way in which receivers count; a text that was cut ends with an ellipsis. */
export function clip(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** At most `most` bytes of UTF-8; a text that was cut ends with an ellipsis. */
export function clipBytes(text: string, most: number): string {
  if (Buffer.byteLength(text) <= most) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(most - Buffer.byteLength('…')));
  return `${text.slice(0, read)}…`;
}

/** Above the instructions, in messages for people. */
export const instructionsTitle = 'Instructions';

/** How a receiver counts: in UTF-16 units or in bytes. */
interface Measure {
  readonly sizeOf: (text: string) => number;
  readonly cut: (text: string, most: number) => string;
}
export const inUnits: Measure = { sizeOf: ({ length }) => length, cut: clip };
export const inBytes: Measure = { sizeOf: (text) => Buffer.byteLength(text), cut: clipBytes };

interface Parts {
  readonly message: string;
  /** null: there are none. */
  readonly instructions: string | null;
}

/** Message and instructions, cut so that both together have at most `most`. If both are too long, each gets half. */
export function fitParts(
  { message, instructions }: Parts,
  most: number,
  { sizeOf, cut }: Measure,
): { readonly message: string; readonly instructions: string | undefined } {
  if (instructions === null) return { message: cut(message, most), instructions: undefined };
  const half = Math.floor(most / 2);
  const fitting = cut(instructions, Math.max(half, most - sizeOf(message)));
  return { message: cut(message, most - sizeOf(fitting)), instructions: fitting };
}

/** The message, if there is one, and below it the instructions with their title, as one plain text of at most `most`. */
export function messageText(notification: Parts, most = Number.POSITIVE_INFINITY, measure = inUnits): string {
  const title = `${notification.message === '' ? '' : '\n\n'}${instructionsTitle}:\n`;
  const room = notification.instructions === null ? most : most - title.length;
  const { message, instructions } = fitParts(notification, room, measure);
  return instructions === undefined ? message : `${message}${title}${instructions}`;
}
