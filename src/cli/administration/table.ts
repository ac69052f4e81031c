import { textWidth, visibleText } from '../terminal-text.ts';

/** Rows under their headings, in columns two spaces apart. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [headings, ...rows.map((cells) => cells.map(visibleText))];
  const widths = headings.map((_, column) => Math.max(...all.map((cells) => textWidth(cells[column] ?? ''))));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - textWidth(cell)))
      .join('  ')
      .trimEnd();
  return all.map((cells) => `${line(cells)}\n`).join('');
}

/** A time in UTC, to the minute; `-` for null. */
export function briefTime(iso: string | null): string {
  return iso === null ? '-' : `${iso.slice(0, 16).replace('T', ' ')}Z`;
}
