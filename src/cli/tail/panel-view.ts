/** A whole panel, as the rows of a terminal: a pure function of what is to be shown. */
import type { Card } from '#client/board.ts';
import type { Connection } from '#client/event-stream.ts';
import type { Level } from '#contract/level.ts';
import { briefDuration } from '../duration.ts';
import type { Paint } from '../terminal/paint.ts';
import { type Piece, row } from '../terminal/row.ts';
import { visibleText } from '../terminal/visible-text.ts';
import { compactCard, fullCard } from './card-view.ts';
import { levelMark } from './level-mark.ts';

export interface Scene {
  readonly width: number;
  readonly height: number;
  readonly paint: Paint;
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
  /** When the stream last said anything; undefined: never yet. */
  readonly heardAt: number | undefined;
  /** When the next attempt to connect begins, while waiting for it. */
  readonly retryAt: number | undefined;
  /** IANA name; undefined is this machine's own. */
  readonly timeZone: string | undefined;
}

export interface PanelView {
  /** Exactly `height` rows. */
  readonly rows: string[];
  /** The notifications that can be read in them. */
  readonly shown: string[];
}

const ok = '#3ecf8e';
const alarm = '#ff7466';
const alarmFill = '#7a1f17';

export function panelView(scene: Scene): PanelView {
  const { height, cards } = scene;
  if (height < 3) return { rows: [header(scene)].slice(0, height), shown: [] };
  const space = height - 2;
  const hidden = cards.length > space ? cards.length - (space - 1) : 0;
  const visible = cards.slice(0, cards.length - hidden);
  const body =
    cards.length === 0 ? nothing(scene, space) : cardRows(scene, visible, space - (hidden > 0 ? 1 : 0));
  const more = scene.isPartial ? `  + ${hidden} more at least` : `  + ${hidden} more`;
  if (hidden > 0) body.push(line(scene, [{ text: more, style: { dim: true } }]));
  while (body.length < space) body.push('');
  return {
    rows: [header(scene), ...body, footer(scene)],
    shown: isStale(scene) ? [] : visible.map(({ notification }) => notification.id),
  };
}

/** Every card gets a row; what is left goes to the first ones, which are the most serious. */
function cardRows(scene: Scene, cards: readonly Card[], space: number): string[] {
  const stale = isStale(scene);
  let spare = space - cards.length;
  const rows: string[] = [];
  for (const card of cards) {
    const options = { ...scene, stale, level: scene.level(card.notification.level) };
    const full = spare > 0 ? fullCard(card, options) : [];
    // The empty row behind the last card may fall off the end.
    const fits = full.length > 0 && full.length - 1 <= spare + (card === cards.at(-1) ? 1 : 0);
    if (fits) spare -= full.length - 1;
    else spare = 0;
    rows.push(...(fits ? full : [compactCard(card, options)]));
  }
  return rows.slice(0, space);
}

/** The server has not been heard for a while, or the line is down: what is shown may be out of date. */
function isStale({ connection, heardAt }: Scene): boolean {
  return connection.state !== 'online' && heardAt !== undefined;
}

function header(scene: Scene): string {
  const { cards, level, connection, now } = scene;
  const dot: Piece =
    connection.state === 'online'
      ? { text: '● ', style: { color: ok } }
      : { text: '✗ ', style: { color: alarm, bold: true } };
  const counts = [...Map.groupBy(cards, ({ notification }) => notification.level)].flatMap(([name, of]) => {
    const { icon, color } = levelMark(name, level(name));
    return [{ text: `  ${icon} ${of.length}`, style: isStale(scene) ? { dim: true } : { color } }];
  });
  const name = { text: visibleText(scene.name), style: { bold: true } };
  return line(
    scene,
    [dot, name, { text: ' ' }, ...counts],
    [{ text: timeOfDay(scene, now), style: { bold: true } }],
  );
}

function footer(scene: Scene): string {
  const { connection, heardAt, retryAt, now } = scene;
  const leave = [{ text: 'q ends', style: { dim: true } }];
  if (connection.state === 'online') {
    const words =
      heardAt === undefined ? 'connected' : `connected, last heard ${briefDuration(now - heardAt)} ago`;
    return line(scene, [{ text: words, style: { dim: true } }], leave);
  }
  const next =
    connection.state === 'connecting'
      ? 'connecting …'
      : `next attempt in ${briefDuration((retryAt ?? now) - now)}`;
  if (heardAt === undefined) return line(scene, [{ text: next, style: { dim: true } }], leave);
  const reason = connection.state === 'waiting' ? ` (${visibleText(connection.reason)})` : '';
  const words = ` no contact since ${timeOfDay(scene, heardAt)}, ${briefDuration(now - heardAt)}: ${next}${reason} `;
  return line(scene, [{ text: words, style: { bold: true, color: '#ffffff' } }], [], alarmFill);
}

function nothing(scene: Scene, space: number): string[] {
  const quiet = scene.isPartial ? 'Asking for more notifications …' : 'All quiet.';
  const word = isStale(scene) ? 'Nothing was shown.' : quiet;
  const text = scene.heardAt === undefined || scene.isFilling ? '' : word;
  const indent = ' '.repeat(Math.max(0, Math.floor((scene.width - text.length) / 2)));
  const rows = Array.from({ length: Math.floor((space - 1) / 2) }, () => '');
  return [...rows, line(scene, [{ text: indent + text, style: { dim: true } }])];
}

function line(scene: Scene, left: readonly Piece[], right: readonly Piece[] = [], fill?: string): string {
  return row(left, right, { width: scene.width, paint: scene.paint, fill });
}

function timeOfDay({ timeZone }: Scene, at: number): string {
  return new Date(at).toLocaleTimeString('en-GB', { ...(timeZone !== undefined && { timeZone }) });
}
