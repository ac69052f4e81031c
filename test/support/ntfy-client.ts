/** Clients of ntfy, as its apps behave. */
import { WebSocket } from 'ws';
import { patienceMs } from './patience.ts';

/** A message as the Android app reads it. */
export interface NtfyEvent {
  readonly id: string;
  readonly time: number;
  readonly event: string;
  readonly topic: string;
  readonly sequence_id?: string;
  readonly expires?: number;
  readonly title?: string;
  readonly message?: string;
  readonly priority?: number;
  readonly tags?: readonly string[];
  readonly click?: string;
  readonly actions?: readonly {
    readonly id: string;
    readonly label: string;
    readonly url: string;
    readonly clear: boolean;
  }[];
}

export interface PhoneStream<E> {
  /** Everything that came, of ntfy also `open` and `keepalive`. */
  readonly events: readonly E[];
  /** Everything as it came. */
  readonly text: () => string;
  /** Resolves with the first event for which `is` holds. */
  next(is: (event: E) => boolean): Promise<E>;
  /** Resolves when the connection is over: whether in an orderly way. */
  readonly ended: Promise<{ readonly isOrderly: boolean }>;
  close(): void;
}

export type NtfyStream = PhoneStream<NtfyEvent>;

/** What the Android app sends: the token is the password, and the user is any name. */
export const basic = (token: string) => ({
  authorization: `Basic ${Buffer.from(`phone:${token}`).toString('base64')}`,
});
export const appHeaders = (token: string) => ({
  ...basic(token),
  'user-agent': 'ntfy/1.25.0 (play; Android 15; SDK 35)',
  'accept-encoding': 'gzip',
});

/** As the app does: an event of another form, or an empty line, makes it fail for good. */
export function parseStrictly(line: string): NtfyEvent {
  const event = JSON.parse(line) as NtfyEvent;
  const { id, time, topic, priority, tags, expires, message, actions = [] } = event;
  const isText = (value: unknown) => typeof value === 'string';
  const isWhole = (value: unknown) => value === undefined || Number.isInteger(value);
  if (
    !/^[A-Za-z0-9]{12}$/.test(id) ||
    !Number.isInteger(time) ||
    !isText(topic) ||
    !['open', 'keepalive', 'message', 'message_clear', 'message_delete'].includes(event.event) ||
    !(isWhole(priority) && isWhole(expires)) ||
    !(actions.length <= 3 && actions.every(({ clear }) => typeof clear === 'boolean')) ||
    !(tags === undefined || (Array.isArray(tags) && tags.every(isText))) ||
    (event.event === 'message' && !isText(message)) ||
    (event.sequence_id !== undefined && !/^[-_A-Za-z0-9]{1,64}$/.test(event.sequence_id))
  )
    throw new Error(`the app cannot read ${line}`);
  return event;
}

/** @throws Error naming the status when the server refuses. */
export async function subscribe(
  url: string,
  headers: Record<string, string>,
  parse: (line: string) => NtfyEvent | undefined = parseStrictly,
): Promise<NtfyStream> {
  const abort = new AbortController();
  const response = await fetch(url, { headers, signal: abort.signal });
  if (response.status !== 200) throw new Error(`status ${response.status}`);
  const stream = collect<NtfyEvent>();
  let rest = '';
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      const text = decoder.decode(chunk, { stream: true });
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      stream.add(
        text,
        lines.flatMap((line) => parse(line) ?? []),
      );
    }
  };
  const ended = read().then(
    () => ({ isOrderly: true }),
    (error: Error) => {
      stream.fail(error);
      return { isOrderly: false };
    },
  );
  return { ...stream.reader, ended, close: () => abort.abort() };
}

/** @throws Error naming the status when the server refuses. */
export const subscribeSocket = (url: string, headers: Record<string, string>): Promise<NtfyStream> =>
  openSocket(url, headers, parseStrictly);

/** Each frame is an event, which `parse` reads. @throws Error naming the status when the server refuses. */
export async function openSocket<E>(
  url: string,
  headers: Record<string, string>,
  parse: (text: string) => E,
): Promise<PhoneStream<E>> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), { headers });
  const stream = collect<E>();
  const ended = new Promise<{ isOrderly: boolean }>((resolve) => {
    socket.on('close', (code) => {
      stream.fail(
        new Error(`it did not come before the WebSocket closed (${code}), after ${stream.reader.text()}`),
      );
      resolve({ isOrderly: code !== 1006 });
    });
  });
  socket.on('message', (data) => {
    const text = String(data);
    try {
      stream.add(text, [parse(text)]);
    } catch (error) {
      stream.fail(error as Error);
    }
  });
  await new Promise<void>((resolve, reject) => {
    socket.on('open', resolve);
    socket.on('unexpected-response', (_request, response) => {
      socket.terminate();
      reject(new Error(`status ${response.statusCode}`));
    });
    socket.on('error', reject);
  });
  return { ...stream.reader, ended, close: () => socket.terminate() };
}

function collect<E>() {
  const events: E[] = [];
  const waiting = new Set<(error?: Error) => void>();
  let all = '';
  let failed: Error | undefined;
  const next = (is: (event: E) => boolean) =>
    new Promise<E>((resolve, reject) => {
      const look = (error?: Error) => {
        const found = events.find(is);
        if (!found && !error) return;
        clearTimeout(timer);
        waiting.delete(look);
        if (found) resolve(found);
        else reject(error);
      };
      const timer = setTimeout(() => look(new Error(`it did not come after ${all}`)), patienceMs);
      waiting.add(look);
      look(failed);
    });
  return {
    reader: { events, text: () => all, next },
    add(text: string, more: readonly E[]) {
      all += text;
      events.push(...more);
      for (const look of [...waiting]) look();
    },
    /** Nothing more comes. */
    fail(error: Error) {
      failed ??= error;
      for (const look of [...waiting]) look(error);
    },
  };
}
