/** Child processes of benchmarks, which communicate by messages. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { FromReaders, ToReaders } from './panel-readers.ts';

export function forkScript(script: URL): ChildProcess {
  return fork(fileURLToPath(script));
}

/** Sends a message and resolves with the next one from the process. @throws Error when the process ends instead. */
export function call<T>(child: ChildProcess, message: object): Promise<T> {
  const next = nextMessage<T>(child);
  child.send(message);
  return next;
}

/** The next message of a process. @throws Error when it ends instead. */
export async function nextMessage<T>(child: ChildProcess): Promise<T> {
  const cancel = new AbortController();
  const ended = once(child, 'exit', { signal: cancel.signal }).then(() => {
    throw new Error('a process of the benchmark ended early');
  });
  try {
    const [message] = (await Promise.race([once(child, 'message', { signal: cancel.signal }), ended])) as [T];
    return message;
  } finally {
    ended.catch(() => undefined);
    cancel.abort();
  }
}

/** Connects panels in a process; they stay connected until the process is disconnected. */
export async function connectPanels(port: number, requests: readonly string[]): Promise<ChildProcess> {
  const readers = forkScript(new URL('./panel-readers.ts', import.meta.url));
  const connected = await call<FromReaders>(readers, {
    kind: 'connect',
    order: { port, requests },
  } satisfies ToReaders);
  if (connected.kind !== 'connected') throw new Error(`panels say ${connected.kind}`);
  return readers;
}

/** A panel's request for its stream. */
export const subscribe = (panelId: string, token: string) =>
  `GET /api/panels/${panelId}/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\nAccept: text/event-stream\r\n\r\n`;

/** A whole request that sends a notification. */
export function notifyRequest(token: string, fields: object): string {
  const body = JSON.stringify(fields);
  return `POST /api/notify HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

export async function registerPanel(
  url: string,
  token: string,
  name: string,
  tags: readonly string[] = [],
): Promise<string> {
  const response = await fetch(`${url}/api/panels`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name, tags }),
  });
  if (response.status !== 201)
    throw new Error(`registering answers ${response.status}: ${await response.text()}`);
  return ((await response.json()) as { id: string }).id;
}
