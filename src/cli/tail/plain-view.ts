import { once } from 'node:events';
import type { Board, BoardChange, Card } from '#client/board.ts';
import type { Connection } from '#client/event-stream.ts';
import { optionalTextNames } from '#contract/history/fields.ts';
import { shownLabels } from '#contract/history/labels.ts';
import { ageText } from '#contract/time.ts';
import type { Io } from '../io.ts';
import { visibleText } from '../terminal-text.ts';
import type { PanelView } from './follow-panel.ts';

interface PlainViewOptions {
  readonly url: string;
  /** Called with the notifications that were written. */
  readonly onShown: (ids: readonly string[]) => void;
}

/** After a gap the live set comes again: so many ids are remembered, so that none is written twice. */
const remembered = 5_000;
/** Wide enough for every built-in level. */
const levelColumns = 8;

/** Writes a line for each event, for logs and pipes; the state of the connection goes to stderr. */
export class PlainView implements PanelView {
  readonly #io: Pick<Io, 'stdout' | 'stderr'>;
  readonly #options: PlainViewOptions;
  readonly #written = new Set<string>();
  #lost = false;

  constructor(io: Pick<Io, 'stdout' | 'stderr'>, options: PlainViewOptions) {
    this.#io = io;
    this.#options = options;
  }

  update(board: Board, changes: readonly BoardChange[], now: number): void {
    const fresh = changes.filter(({ kind, card }) => kind !== 'added' || this.#isNew(card.notification.id));
    // What comes back to the panel is written again.
    for (const { kind, card } of fresh)
      if (kind === 'shelved' || kind === 'suppressed') this.#written.delete(card.notification.id);
    const lines = fresh.flatMap((change) => plainLine(change, board.serverTime(now)) ?? []);
    if (lines.length > 0) this.#io.stdout.write(`${lines.join('\n')}\n`);
    this.#options.onShown(
      fresh.flatMap(({ kind, card }) => (kind === 'added' ? [card.notification.id] : [])),
    );
  }

  tick(): void {}

  connection(connection: Connection): void {
    const { url } = this.#options;
    if (connection.state === 'waiting') {
      const { reason, retryInMs } = connection;
      const next = `next attempt in ${ageText(retryInMs)}`;
      this.#io.stderr.write(`belfry: no contact with ${url} (${visibleText(reason)}); ${next}\n`);
      this.#lost = true;
    } else if (connection.state === 'online' && this.#lost) {
      this.#io.stderr.write(`belfry: connected to ${url} again\n`);
      this.#lost = false;
    }
  }

  /** A slow reader slows the stream from the server, so that nothing piles up here. */
  async drained(): Promise<void> {
    const { stdout } = this.#io;
    if (!stdout.writableNeedDrain) return;
    await Promise.race([once(stdout, 'drain'), once(stdout, 'close')]).catch(() => undefined);
  }

  close(): void {}

  #isNew(id: string): boolean {
    if (this.#written.has(id)) return false;
    this.#written.add(id);
    const [oldest] = this.#written;
    if (this.#written.size > remembered && oldest !== undefined) this.#written.delete(oldest);
    return true;
  }
}

/** The line of a change; undefined for one that is no event of the stream. `at` is the server's time. */
export function plainLine({ kind, card }: BoardChange, at: number): string | undefined {
  const { level, title, message } = card.notification;
  if (kind === 'expired' || kind === 'dropped') return undefined;
  const isNew = kind === 'added';
  const time = timeText(isNew ? card.receivedAt : at);
  const text = isNew ? `${visibleText(title)} — ${visibleText(message)}` : visibleText(title);
  const fields = [...fieldsOf(card), ...changedFieldsOf(kind, card)];
  return [time, (isNew ? level : kind).padEnd(levelColumns), text, ...fields].join('  ');
}

const timeText = (at: number | string) => `${new Date(at).toISOString().slice(0, 19)}Z`;

/** In the order of a line. */
const textNames = ['host', ...optionalTextNames.filter((name) => name !== 'host')] as const;

function fieldsOf({ notification }: Card): string[] {
  return textNames.flatMap((name) => {
    const value = name === 'labels' ? shownLabels(notification.labels) || null : notification[name];
    return value === null ? [] : [`${name}=${quoted(visibleText(value))}`];
  });
}

function changedFieldsOf(kind: BoardChange['kind'], { count, suppresses, notification }: Card): string[] {
  if (kind === 'counted') return [`count=${count}`];
  if (kind === 'followed') return [`count=${suppresses?.count ?? 0}`];
  if (kind !== 'acknowledged' || !notification.acknowledged) return [];
  const { by, note, until } = notification.acknowledged;
  return [
    `by=${quoted(visibleText(by))}`,
    ...(until === null ? [] : [`until=${timeText(until)}`]),
    ...(note === null ? [] : [`note=${quoted(visibleText(note))}`]),
  ];
}

function quoted(text: string): string {
  return /[\s"]/.test(text) ? `"${text.replaceAll('"', '\\"')}"` : text;
}
