/** A whole panel as the rows of a terminal: a pure function of what is to be shown. */

import { styleText } from 'node:util';
import type { Card } from '#client/board.ts';
import type { Connection } from '#client/event-stream.ts';
import type { Level } from '#contract/routing/level.ts';
import { ageText } from '#contract/time.ts';
import { briefTime, cutText, textWidth, visibleText } from '../terminal-text.ts';

export interface Scene {
  readonly width: number;
  readonly height: number;
  readonly colors: 'none' | 'ansi16' | 'truecolor';
  readonly name: string;
  /** In the order in which they are to be shown. */
  readonly cards: readonly Card[];
  /** They are still coming. */
  readonly isFilling: boolean;
  /** More may be live than these. */
  readonly isPartial: boolean;
  readonly level: (name: string) => Level | undefined;
  /** By the clock of the cards' ends. */
  readonly elapsed: number;
  /** This and the times below are the server's. */
  readonly now: number;
  readonly connection: Connection;
  /** When the last event came; undefined: none has come yet. */
  readonly lastEventAt: number | undefined;
  /** When the next attempt to connect begins, while waiting for it. */
  readonly retryAt: number | undefined;
  /** IANA name; undefined is this machine's own. */
  readonly timeZone: string | undefined;
}

type Format = Exclude<Parameters<typeof styleText>[0], readonly unknown[]>;

interface Row {
  /** At the left edge, in its own format. */
  readonly mark?: string;
  readonly text: string;
  /** At the right edge; left out where it would take more than half of the row. */
  readonly right?: string;
  readonly markFormat?: readonly Format[];
  readonly textFormat?: readonly Format[];
}

/** The icons of the built-in levels as plain geometric characters, which every terminal font has; others are a dot. */
const icons: Readonly<Partial<Record<Level['icon'], string>>> = {
  'circle-check': '✓',
  'info-circle': '●',
  'alert-triangle': '▲',
  'alert-octagon': '■',
  flame: '◆',
  bolt: '↯',
  flag: '⚑',
  heart: '♥',
  star: '★',
};

/** Exactly `height` rows, and the ids of the notifications that can be read in them. */
export function panelRows(scene: Scene): { readonly rows: string[]; readonly shown: string[] } {
  const { height, cards } = scene;
  if (height < 3) return { rows: [header(scene)].slice(0, height), shown: [] };
  const space = height - 2;
  const hidden = cards.length > space ? cards.length - (space - 1) : 0;
  const visible = cards.slice(0, cards.length - hidden);
  const isRoomy = visible.length * 3 <= space;
  const body = visible.flatMap((card) => (isRoomy ? fullCard(scene, card) : [compactCard(scene, card)]));
  if (cards.length === 0) body.push(...emptyBoard(scene, space));
  if (hidden > 0)
    body.push(
      row(scene, { text: `  + ${hidden} more${scene.isPartial ? ' at least' : ''}`, textFormat: ['dim'] }),
    );
  while (body.length < space) body.push('');
  return {
    rows: [header(scene), ...body, footer(scene)],
    shown: isStale(scene) ? [] : visible.map(({ notification }) => notification.id),
  };
}

function header(scene: Scene): string {
  const isOnline = scene.connection.state === 'online';
  const counts = [...Map.groupBy(scene.cards, ({ notification }) => notification.level)].map(
    ([name, { length }]) => `  ${iconOf(scene.level(name))} ${length}`,
  );
  return row(scene, {
    mark: isOnline ? '● ' : '✗ ',
    markFormat: [isOnline ? 'green' : 'redBright'],
    text: `${visibleText(scene.name)} ${counts.join('')}`,
    textFormat: ['bold'],
    right: timeOfDay(scene, scene.now),
  });
}

/** Title, message and origin in two rows, and an empty one. */
function fullCard(scene: Scene, card: Card): string[] {
  const { message, host, ip, key, url, acknowledged } = card.notification;
  const seen =
    acknowledged &&
    `seen by ${acknowledged.by}${acknowledged.until === null ? '' : ` until ${briefTime(acknowledged.until)}`}`;
  const origin = [seen, host, ip, key && `key ${key}`, url].filter(Boolean).join('  ');
  const left = remaining(scene, card);
  return [
    row(scene, { ...cardRow(scene, card), right: ageOf(scene, card) }),
    row(scene, {
      text: `  ${visibleText([oneLine(message), origin].filter(Boolean).join('  '))}`,
      textFormat: ['dim'],
      ...(left !== undefined && { right: left }),
    }),
    '',
  ];
}

function compactCard(scene: Scene, card: Card): string {
  const { mark, text, ...rest } = cardRow(scene, card);
  const right = remaining(scene, card) ?? ageOf(scene, card);
  return row(scene, {
    mark,
    text: `${text}  ${visibleText(oneLine(card.notification.message))}`,
    right,
    ...rest,
  });
}

function cardRow(scene: Scene, { notification: { level: name, title, rank } }: Card) {
  const level = scene.level(name);
  const format: Format[] = isStale(scene) ? ['dim'] : ['bold'];
  return {
    mark: `${iconOf(level)} ${name.toUpperCase()}  `,
    text: visibleText(title),
    markFormat: isStale(scene) ? format : [...format, colorOf(scene, level?.color, rank)],
    textFormat: format,
  };
}

const oneLine = (text: string) => text.trim().replaceAll(/[\t\r\n]+/g, ' ');
const iconOf = (level: Level | undefined) => (level && icons[level.icon]) ?? '•';

/** The level's own colour, or in a terminal that has only sixteen, one for its rank. */
function colorOf({ colors }: Scene, color: string | undefined, rank: number): Format {
  if (colors === 'truecolor' && color?.startsWith('#')) return color as `#${string}`;
  if (rank >= 50) return 'magentaBright';
  if (rank >= 40) return 'redBright';
  if (rank >= 30) return 'yellowBright';
  return rank > 10 ? 'blueBright' : 'greenBright';
}

function ageOf({ now }: Scene, { count, suppresses, since, notification: { escalated } }: Card): string {
  const steps = escalated ? `escalated ×${escalated.times}  ` : '';
  const followed = suppresses ? `${suppresses.count} followed  ` : '';
  return `${steps}${count > 0 ? `+${count}  ` : ''}${followed}${ageText(now - since)}`;
}

function remaining({ elapsed }: Scene, { endsAt }: Card): string | undefined {
  return endsAt === null ? undefined : `${ageText(Math.max(0, endsAt - elapsed))} left`;
}

/** The connection is lost: what is shown may be out of date. */
function isStale({ connection, lastEventAt }: Scene): boolean {
  return connection.state !== 'online' && lastEventAt !== undefined;
}

function footer(scene: Scene): string {
  const { connection, lastEventAt, retryAt, now } = scene;
  const right = 'q quits';
  if (connection.state === 'online') {
    const since = lastEventAt === undefined ? '' : `, last event ${ageText(now - lastEventAt)} ago`;
    return row(scene, { text: `connected${since}`, textFormat: ['dim'], right });
  }
  const next =
    connection.state === 'connecting' ? 'connecting …' : `next attempt in ${ageText((retryAt ?? now) - now)}`;
  if (lastEventAt === undefined) return row(scene, { text: next, textFormat: ['dim'], right });
  const reason = connection.state === 'waiting' ? ` (${visibleText(connection.reason)})` : '';
  const since = `${timeOfDay(scene, lastEventAt)}, ${ageText(now - lastEventAt)}`;
  return row(scene, {
    text: ` no contact since ${since}: ${next}${reason}`,
    textFormat: ['bold', 'inverse'],
  });
}

function emptyBoard(scene: Scene, space: number): string[] {
  if (scene.lastEventAt === undefined || scene.isFilling) return [];
  const quiet = scene.isPartial ? 'Loading more notifications …' : 'All quiet.';
  const text = isStale(scene) ? 'No notifications before the connection was lost.' : quiet;
  const indent = ' '.repeat(Math.max(0, Math.floor((scene.width - text.length) / 2)));
  const above = Array.from({ length: Math.floor((space - 1) / 2) }, () => '');
  return [...above, row(scene, { text: indent + text, textFormat: ['dim'] })];
}

/** One row of exactly `width` columns. */
function row(
  { width, colors }: Scene,
  { mark = '', text, right = '', markFormat = [], textFormat = [] }: Row,
) {
  const edge = right !== '' && textWidth(right) < width / 2 ? ` ${right}` : '';
  const room = width - textWidth(edge);
  // More than a row can hold is not even looked at.
  const left = cutText(mark + text.slice(0, width * 4), room);
  const gap = ' '.repeat(room - textWidth(left));
  const styled = (part: string, format: readonly Format[]) => {
    const allowed =
      colors === 'none'
        ? format.filter((each) => each === 'bold' || each === 'dim' || each === 'inverse')
        : format;
    return allowed.length === 0 || part === ''
      ? part
      : styleText([...allowed], part, { validateStream: false });
  };
  return (
    styled(left.slice(0, mark.length), markFormat) +
    styled(left.slice(mark.length) + gap, textFormat) +
    styled(edge, ['dim'])
  );
}

function timeOfDay({ timeZone }: Scene, at: number): string {
  return new Date(at).toLocaleTimeString('en-GB', { ...(timeZone !== undefined && { timeZone }) });
}
