/** What happens on a panel, one line each, for logs and pipes. */
import type { BoardChange, Card } from '#client/board.ts';
import { visibleText } from '../terminal/visible-text.ts';

/** Wide enough for every built-in level. */
const wordColumns = 8;

/** The line of a change; undefined for one that is no event of the stream. `at` is the server's time. */
export function plainLine({ kind, card }: BoardChange, at: number): string | undefined {
  const { level, title, message } = card.notification;
  switch (kind) {
    case 'added':
      return written(
        card.receivedAt,
        level,
        `${visibleText(title)} — ${visibleText(message)}`,
        fieldsOf(card),
      );
    case 'cleared':
    case 'replaced':
      return written(at, kind, visibleText(title), fieldsOf(card));
    case 'counted':
      return written(at, kind, visibleText(title), [...fieldsOf(card), `count=${card.count}`]);
    default:
      return undefined;
  }
}

function written(at: number, word: string, text: string, fields: readonly string[]): string {
  const time = `${new Date(at).toISOString().slice(0, 19)}Z`;
  return [time, word.padEnd(wordColumns), text, ...fields].join('  ');
}

function fieldsOf({ notification: { host, ip, key, url } }: Card): string[] {
  return Object.entries({ host, ip, key, url }).flatMap(([name, value]) =>
    value === null ? [] : [`${name}=${quoted(visibleText(value))}`],
  );
}

function quoted(text: string): string {
  return /[\s"]/.test(text) ? `"${text.replaceAll('"', '\\"')}"` : text;
}
