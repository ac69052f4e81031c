/** One Server-Sent Event; `data` is sent as JSON on one line. */
interface SseEvent {
  readonly event: string;
  readonly data: unknown;
  readonly id?: string;
  readonly retryMs?: number;
}

/** Encodes an event as the text of one frame. JSON holds no raw line break, so `data` needs no splitting. */
export function encodeSse({ event, data, id, retryMs }: SseEvent): string {
  return encodeSseJson(event, JSON.stringify(data), id, retryMs);
}

/** As {@link encodeSse}, for data that is JSON text already. */
export function encodeSseJson(event: string, json: string, id?: string, retryMs?: number): string {
  let frame = retryMs === undefined ? '' : `retry: ${retryMs}\n`;
  if (id !== undefined) frame += `id: ${id}\n`;
  return `${frame}event: ${event}\ndata: ${json}\n\n`;
}

/** A place in a tenant's log, as streams name it: `<epoch>-<position>`. */
export interface Cursor {
  readonly epoch: string;
  readonly position: number;
}

export function formatCursor(epoch: string, position: number): string {
  return `${epoch}-${position}`;
}

/** Parses a cursor; undefined when it is malformed or its position is no safe integer. */
export function parseCursor(text: string): Cursor | undefined {
  const match = /^([0-9a-z]{1,32})-(0|[1-9][0-9]{0,15})$/.exec(text);
  if (!match) return undefined;
  const position = Number(match[2]);
  return Number.isSafeInteger(position) ? { epoch: match[1] as string, position } : undefined;
}
