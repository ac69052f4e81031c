/** HTTP as bytes: for requests that no client library would send. */
import { connect, type Socket } from 'node:net';
import { patienceMs } from './patience.ts';

export interface RawAnswer {
  readonly status: number;
  /** Names in lower case; repeated headers are joined with a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A connection that parses answers as soon as they are complete. */
export class RawConnection {
  readonly answers: RawAnswer[] = [];
  /** Resolves once the connection has ended, on either side. */
  readonly closed: Promise<void>;
  isClosed = false;
  readonly #socket: Socket;
  readonly #looks = new Set<() => void>();
  #rest = Buffer.alloc(0);

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk) => {
      this.#rest = Buffer.concat([this.#rest, chunk]);
      this.#read(false);
    });
    // A reset is a normal end: only the data before it counts.
    socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.isClosed = true;
        this.#read(true);
        resolve();
      });
    });
  }

  static async open(url: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port) });
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    return new RawConnection(socket);
  }

  /** Received data that is not a complete answer. */
  get unread(): string {
    return this.#rest.toString('latin1');
  }

  /** Resolves once the system has accepted the data, even if the peer does not read it. */
  write(bytes: string | Buffer): Promise<void> {
    if (!this.#socket.writable) return Promise.resolve();
    return Promise.race([
      new Promise<void>((resolve) => this.#socket.write(bytes, () => resolve())),
      this.closed,
    ]);
  }

  /** Half-closes the connection, and continues reading. */
  finish(): void {
    this.#socket.end();
  }

  /** Stops reading. */
  pause(): void {
    this.#socket.pause();
  }

  /** Resets the connection (RST). */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Resolves with the first `count` answers, or with fewer once the connection has ended. @throws Error after `ms`. */
  async next(count = 1, ms = patienceMs): Promise<RawAnswer[]> {
    await this.#until(() => this.answers.length >= count || this.isClosed, ms);
    return this.answers.slice(0, count);
  }

  /** Resolves with the status of an endless answer, once its head has arrived; undefined without one. */
  async begun(ms = patienceMs): Promise<number | undefined> {
    const count = this.answers.length;
    const status = () => /^HTTP\/1\.1 ([2-5]\d\d) [\s\S]*?\r\n\r\n/.exec(this.unread)?.[1];
    await this.#until(() => this.answers.length > count || status() !== undefined || this.isClosed, ms);
    return this.answers[count]?.status ?? (status() === undefined ? undefined : Number(status()));
  }

  /** Resolves with every answer once the connection has ended. @throws Error after `ms`. */
  async all(ms = patienceMs): Promise<RawAnswer[]> {
    await this.#until(() => this.isClosed, ms);
    return this.answers;
  }

  #until(holds: () => boolean, ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (!holds()) return;
        clearTimeout(timer);
        this.#looks.delete(look);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#looks.delete(look);
        this.close();
        reject(
          new Error(`a hang: ${this.answers.length} answers within ${ms} ms, and ${this.#rest.length} bytes`),
        );
      }, ms);
      this.#looks.add(look);
      look();
    });
  }

  #read(ended: boolean): void {
    for (let read = readAnswer(this.#rest, ended); read; read = readAnswer(this.#rest, ended)) {
      this.answers.push(read.answer);
      this.#rest = this.#rest.subarray(read.length);
    }
    for (const look of this.#looks) look();
  }
}

/** Sends `bytes` on a new connection, half-closes it after the first answer, and reads to the end. */
export async function exchange(url: string, bytes: string | Buffer): Promise<RawAnswer[]> {
  const connection = await RawConnection.open(url);
  try {
    await connection.write(bytes);
    await connection.next();
    connection.finish();
    return await connection.all();
  } finally {
    connection.close();
  }
}

/** Sends `bytes`, leaves the connection open and reads the first answer. @throws Error when there is none. */
export async function firstAnswer(url: string, bytes: string | Buffer): Promise<RawAnswer> {
  const connection = await RawConnection.open(url);
  try {
    await connection.write(bytes);
    const [answer] = await connection.next();
    if (!answer) throw new Error('the connection was ended without an answer');
    return answer;
  } finally {
    connection.close();
  }
}

export interface RawRequest {
  readonly method?: string;
  readonly path?: string;
  readonly version?: string;
  readonly headers?: readonly (readonly [string, string | Buffer])[];
  readonly body?: string | Buffer;
}

/** A request's bytes: Host goes first unless given, Content-Length last unless a length or coding is given. */
export function rawRequest({
  method = 'POST',
  path = '/api/notify',
  version = 'HTTP/1.1',
  headers = [],
  body = '',
}: RawRequest): Buffer {
  const has = (...names: string[]) => headers.some(([name]) => names.includes(name.toLowerCase()));
  const bytes = Buffer.from(body as string);
  const all = [
    ...(has('host') ? [] : [['Host', 'belfry.test'] as const]),
    ...headers,
    ...(has('content-length', 'transfer-encoding')
      ? []
      : [['Content-Length', String(bytes.length)] as const]),
  ];
  const lines = all.map(([name, value]) =>
    Buffer.concat([Buffer.from(`${name}: `), Buffer.from(value as string), Buffer.from('\r\n')]),
  );
  return Buffer.concat([
    Buffer.from(`${method} ${path} ${version}\r\n`),
    ...lines,
    Buffer.from('\r\n'),
    bytes,
  ]);
}

/** The first answer in `bytes`; undefined while it is incomplete. */
function readAnswer(bytes: Buffer, ended: boolean): { answer: RawAnswer; length: number } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n');
  const status = Number(/^HTTP\/1\.[01] (\d{3}) /.exec(statusLine)?.[1] ?? Number.NaN);
  if (Number.isNaN(status)) throw new Error(`not an answer: ${statusLine}`);
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const name = line.slice(0, line.indexOf(':')).toLowerCase();
    const value = line.slice(line.indexOf(':') + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  const start = headEnd + 4;
  const found =
    status < 200 || status === 204 ? { end: start, body: '' } : readBody(bytes, start, headers, ended);
  return found && { answer: { status, headers, body: found.body }, length: found.end };
}

function readBody(
  bytes: Buffer,
  start: number,
  headers: Readonly<Record<string, string>>,
  ended: boolean,
): { end: number; body: string } | undefined {
  const { 'content-length': length, 'transfer-encoding': coding } = headers;
  if (coding !== undefined) return readChunks(bytes, start);
  const end = length === undefined ? bytes.length : start + Number(length);
  if (length === undefined ? !ended : bytes.length < end) return undefined;
  return { end, body: bytes.toString('utf8', start, end) };
}

function readChunks(bytes: Buffer, start: number): { end: number; body: string } | undefined {
  const chunks: Buffer[] = [];
  for (let at = start; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    const next = lineEnd + 2 + size + 2;
    if (Number.isNaN(size)) throw new Error('not a chunk of an answer');
    if (bytes.length < next) return undefined;
    if (size === 0) return { end: next, body: Buffer.concat(chunks).toString() };
    chunks.push(bytes.subarray(lineEnd + 2, next - 2));
    at = next;
  }
}
