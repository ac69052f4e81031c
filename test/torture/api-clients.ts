/** Clients of the API: a reader of history, and a panel that resumes by its cursor. */
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { createParser } from 'eventsource-parser';
import type { PanelLog, Recorded } from '../support/history-checker.ts';
import { limitMs } from '../support/patience.ts';

interface HistoryRow {
  readonly id: string;
  readonly position: number;
  readonly title: string;
}

const recorded = ({ id, position, title }: HistoryRow): Recorded => ({ id, position, name: title });

/** The whole history, in one export. */
export async function readHistory(url: string, key: string): Promise<Recorded[]> {
  const response = await fetch(`${url}/api/history/export?format=ndjson`, {
    headers: { authorization: `Bearer ${key}` },
  });
  if (response.status !== 200)
    throw new Error(`history answers ${response.status}: ${await response.text()}`);
  // Line by line, because one string cannot hold the notifications of half a minute at full speed.
  const found: Recorded[] = [];
  const body = Readable.fromWeb(response.body as ReadableStream);
  for await (const line of createInterface({ input: body }))
    if (line !== '') found.push(recorded(JSON.parse(line) as HistoryRow));
  return found;
}

/** The notifications after a position, read page by page. */
export async function readHistoryAfter(url: string, key: string, position: number): Promise<Recorded[]> {
  const found: Recorded[] = [];
  let cursor = '';
  for (;;) {
    const response = await fetch(`${url}/api/history?limit=200${cursor}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    if (response.status !== 200)
      throw new Error(`history answers ${response.status}: ${await response.text()}`);
    const page = (await response.json()) as { notifications: HistoryRow[]; nextCursor: string | null };
    const newer = page.notifications.filter((row) => row.position > position);
    found.push(...newer.map(recorded));
    if (page.nextCursor === null || newer.length < page.notifications.length) return found;
    cursor = `&cursor=${page.nextCursor}`;
  }
}

interface Arrival {
  readonly event: string;
  readonly id: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of the data
  readonly data: any;
}

/** A panel over all its connections. It starts at the head and must receive everything after that. */
export class ResumingPanel {
  readonly #name: string;
  readonly #seen: { position: number; name: string | null }[] = [];
  readonly #waiting = new Set<() => void>();
  #id: string | undefined;
  #cursor: string | undefined;
  #from: number | undefined;
  #epoch: string | undefined;
  #abort = new AbortController();
  #ended: Promise<void> = Promise.resolve();
  /** Events by kind, over all connections. */
  readonly events = new Map<string, number>();
  /** The value of `resume` in each `ready` event. */
  readonly resumes: string[] = [];

  /** `known`: a registered panel that has received everything up to a cursor. */
  constructor(name: string, known?: { readonly id: string; readonly cursor: string }) {
    this.#name = name;
    this.#id = known?.id;
    this.#cursor = known?.cursor;
    this.#from = known && Number(known.cursor.split('-')[1]);
    this.#epoch = known?.cursor.split('-')[0];
  }

  /** The input of the history checker, once the panel should have everything up to `to`. */
  log(to: number): PanelLog {
    return { panel: this.#name, from: this.#from ?? 0, to, seen: this.#seen };
  }

  /** The last position that arrived. */
  get position(): number {
    return this.#seen.at(-1)?.position ?? this.#from ?? 0;
  }

  /** Registers the panel the first time, and opens the stream at its cursor. Resolves with the data of `ready`. */
  async connect(url: string, token: string): Promise<Arrival['data']> {
    const headers = { authorization: `Bearer ${token}` };
    this.#id ??= await this.#register(url, headers);
    this.#abort = new AbortController();
    const response = await fetch(`${url}/api/panels/${this.#id}/events`, {
      headers: { ...headers, ...(this.#cursor !== undefined && { 'last-event-id': this.#cursor }) },
      signal: this.#abort.signal,
    });
    if (response.status !== 200 || !response.body)
      throw new Error(`the stream answers ${response.status}: ${await response.text()}`);
    let onReady = (_ready: Arrival['data']) => {};
    const ready = new Promise<Arrival['data']>((resolve) => {
      onReady = resolve;
    });
    this.#ended = this.#read(response.body, onReady);
    return Promise.race([
      ready,
      this.#ended.then(() => Promise.reject(new Error('the stream ended before `ready`'))),
    ]);
  }

  /** Resolves once everything up to a position has arrived. */
  reached(position: number, withinMs = limitMs(10_000)): Promise<void> {
    return this.#until(() => this.position >= position, `position ${position}`, withinMs);
  }

  /** Resolves with the next event, of a kind or of any. */
  next(kind?: string): Promise<void> {
    const count = () =>
      [...this.events].reduce(
        (sum, [name, times]) => sum + (kind === undefined || name === kind ? times : 0),
        0,
      );
    const before = count();
    return this.#until(() => count() > before, `another ${kind ?? 'event'}`);
  }

  #until(isReached: () => boolean, what: string, withinMs = limitMs(10_000)): Promise<void> {
    return new Promise((resolve, reject) => {
      const check = () => {
        if (!isReached()) return;
        clearTimeout(timer);
        this.#waiting.delete(check);
        resolve();
      };
      const timer = setTimeout(
        () =>
          reject(
            new Error(`${this.#name} stands at ${this.position}, without ${what}, after ${withinMs} ms`),
          ),
        withinMs,
      );
      this.#waiting.add(check);
      check();
    });
  }

  /** Resolves when the server has ended the stream. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  close(): void {
    this.#abort.abort();
  }

  async #register(url: string, headers: Record<string, string>): Promise<string> {
    const response = await fetch(`${url}/api/panels`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ name: this.#name }),
    });
    if (!response.ok) throw new Error(`registering answers ${response.status}: ${await response.text()}`);
    return ((await response.json()) as { id: string }).id;
  }

  async #read(body: AsyncIterable<Uint8Array>, onReady: (ready: Arrival['data']) => void): Promise<void> {
    const parser = createParser({
      onEvent: ({ event, id, data }) => {
        const arrival = { event: event ?? 'message', id, data: JSON.parse(data) };
        this.#take(arrival);
        if (arrival.event === 'ready') onReady(arrival.data);
      },
    });
    const decoder = new TextDecoder();
    try {
      for await (const chunk of body) parser.feed(decoder.decode(chunk, { stream: true }));
    } catch {
      // The server was killed, or the test closed the connection: the stream has ended.
    }
  }

  #take({ event, id, data }: Arrival): void {
    this.events.set(event, (this.events.get(event) ?? 0) + 1);
    if (id !== undefined) this.#cursor = id;
    if (event === 'ready') {
      // In a new epoch a panel starts again from the beginning.
      if (this.#from === undefined || data.epoch !== this.#epoch) {
        this.#seen.length = 0;
        this.#from = data.head as number;
      }
      this.#epoch = data.epoch as string;
      this.resumes.push(data.resume as string);
    }
    // Earlier notifications are the live set of the panel, which the checker ignores.
    if (event === 'notification' && data.position > (this.#from ?? 0))
      this.#seen.push({ position: data.position as number, name: data.title as string });
    for (const check of this.#waiting) check();
  }
}
