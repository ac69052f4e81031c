/** One card of a panel, as rows of a terminal. */
import type { Card } from '#client/board.ts';
import type { Level } from '#contract/level.ts';
import { briefDuration } from '../duration.ts';
import type { Style } from '../terminal/paint.ts';
import { type Piece, type RowOptions, row } from '../terminal/row.ts';
import { wrapText } from '../terminal/text-width.ts';
import { visibleLines, visibleText } from '../terminal/visible-text.ts';
import { levelMark } from './level-mark.ts';

export interface CardViewOptions extends RowOptions {
  /** The server's time. */
  readonly now: number;
  /** By the clock of the card's end. */
  readonly elapsed: number;
  /** What is shown may be out of date: it loses its colour. */
  readonly stale: boolean;
  readonly level: Level | undefined;
}

/** The one filled card of a wall: from this rank on. */
const criticalRank = 50;
const criticalFill = '#b8124a';
const criticalText = '#ffffff';
const messageLines = 3;
const barColumns = 16;

/** Title, message and origin, with an empty row behind. */
export function fullCard(card: Card, options: CardViewOptions): string[] {
  const look = lookOf(card, options);
  const body = bodyLines(card, options.width - 2).map((text) => look.row([{ text, style: look.quiet }]));
  const origin = originOf(card);
  const remaining = remainingOf(card, options, look);
  const last =
    origin === '' && remaining.length === 0
      ? []
      : [look.row([{ text: origin, style: look.quiet }], remaining)];
  return [headRow(card, options, look, []), ...body, ...last, ''];
}

/** All of a card in one row. */
export function compactCard(card: Card, options: CardViewOptions): string {
  const look = lookOf(card, options);
  // More than a row can hold is not even looked at.
  const message = visibleLines(card.notification.message.slice(0, options.width * 4)).join(' ');
  return headRow(card, options, look, [{ text: `  ${message}`, style: look.quiet }]);
}

interface Look {
  readonly strong: Style;
  readonly quiet: Style;
  readonly mark: Style;
  row(left: readonly Piece[], right?: readonly Piece[]): string;
}

function lookOf({ notification }: Card, { stale, level, width, paint }: CardViewOptions): Look {
  const filled = notification.rank >= criticalRank && !stale;
  const { color } = levelMark(notification.level, level);
  const mark: Style = stale ? { dim: true } : { color: filled ? criticalText : color, bold: true };
  const strong: Style = stale ? { dim: true } : { bold: true, ...(filled && { color: criticalText }) };
  const quiet: Style = filled ? { color: '#ffe3ec' } : { dim: true };
  const fill = filled ? criticalFill : undefined;
  return {
    mark,
    strong,
    quiet,
    row: (left, right = []) => row([{ text: '▌ ', style: mark }, ...left], right, { width, paint, fill }),
  };
}

function headRow(card: Card, options: CardViewOptions, look: Look, rest: readonly Piece[]): string {
  const { title, level } = card.notification;
  const { icon, word } = levelMark(level, options.level);
  const more = card.count > 0 ? `+${card.count}  ` : '';
  const left = [
    { text: `${icon} ${word}  `, style: look.mark },
    { text: visibleText(title), style: look.strong },
    ...rest,
  ];
  return look.row(left, [
    { text: `${more}${briefDuration(options.now - card.receivedAt)}`, style: look.quiet },
  ]);
}

/** The first lines of the message, with what is too long cut off. */
function bodyLines({ notification: { message } }: Card, width: number): string[] {
  const lines: string[] = [];
  const written = visibleLines(message).filter((line) => line.trim() !== '');
  for (const [i, text] of written.entries()) {
    const room = messageLines - lines.length;
    if (room <= 0) break;
    const wrapped = wrapText(text, width, room);
    const isCut = lines.length + wrapped.length >= messageLines && i < written.length - 1;
    lines.push(...wrapped.slice(0, -1), ending(wrapped.at(-1) ?? '', isCut, width));
  }
  return lines;
}

function ending(line: string, isCut: boolean, width: number): string {
  return isCut && !line.endsWith('…') ? (wrapText(`${line} …`, width, 1)[0] ?? '') : line;
}

function originOf({ notification: { host, ip, key, url } }: Card): string {
  return [host, ip, key && `key ${key}`, url]
    .filter((part): part is string => Boolean(part))
    .map(visibleText)
    .join('  ');
}

/** How much of its time is left: as a bar, and in words. */
function remainingOf(
  { notification, endsAt }: Card,
  { elapsed, stale }: CardViewOptions,
  look: Look,
): Piece[] {
  if (endsAt === null || notification.ttl <= 0) return [];
  const left = Math.max(0, endsAt - elapsed);
  const filled = Math.min(barColumns, Math.ceil((left / notification.ttl) * barColumns));
  return [
    { text: '━'.repeat(filled), style: stale ? look.quiet : { ...look.mark, bold: false } },
    { text: '─'.repeat(barColumns - filled), style: look.quiet },
    { text: ` ${briefDuration(left).padStart(6)}`, style: look.quiet },
  ];
}
