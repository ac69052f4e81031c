import { connect, type Socket } from 'node:net';
import { setPriority } from 'node:os';
import { setTimeout as moment } from 'node:timers/promises';
import { type Breakage, type ConnectOptions, hashName, type Reader, type ReadersCommand } from './readers.ts';

const breakages: readonly Breakage[] = ['reset', 'end', 'silence'];
/** A silent connection is closed after this time. */
const silenceMs = 10_000;
const maxProblems = 5;

class StreamReader {
  readonly #options: ConnectOptions;
  readonly #panel: string;
  readonly #index: number;
  #socket: Socket | undefined;
  #text = '';
  #cursor: string | undefined;
  #from: number | undefined;
  #position = 0;
  #sum = 0;
  #connections = 0;
  readonly #problems: string[] = [];
  ready = false;

  constructor(options: ConnectOptions, index: number) {
    this.#options = options;
    this.#panel = options.panels[index] as string;
    this.#index = index;
  }

  get position(): number {
    return this.#position;
  }

  get state(): Reader {
    const [panel, from, position, sum] = [this.#panel, this.#from ?? -1, this.#position, this.#sum];
    return { panel, from, position, sum, connections: this.#connections, problems: this.#problems };
  }

  open(): void {
    this.ready = false;
    this.#text = '';
    // Several addresses, because one has too few ports for fifty thousand connections.
    const { port, host } = this.#options;
    const here = { host: '127.0.0.1', localAddress: `127.0.${1 + (this.#index % 16)}.1` };
    const socket = connect({ port, ...(host === undefined ? here : { host }) });
    this.#socket = socket;
    const resume = this.#cursor === undefined ? '' : `last-event-id: ${this.#cursor}\r\n`;
    socket.write(
      `GET /api/panels/${this.#panel}/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${this.#options.token}\r\n${resume}\r\n`,
    );
    socket.setEncoding('latin1').on('data', (text: string) => {
      if (this.#socket === socket) this.#take(text);
    });
    socket.on('error', () => undefined);
    socket.once('close', () => {
      if (this.#socket === socket) void this.#reconnect();
    });
  }

  /** Breaks the connection and reconnects. */
  breakOff(breakage: Breakage): void {
    const socket = this.#socket;
    this.#socket = undefined;
    if (breakage === 'reset') socket?.resetAndDestroy();
    else if (breakage === 'end') socket?.end();
    else socket?.pause();
    if (breakage !== 'reset') setTimeout(() => socket?.destroy(), silenceMs);
    void this.#reconnect();
  }

  async #reconnect(): Promise<void> {
    this.ready = false;
    // The pause is longer after the server closed the connection, because it may be down.
    await moment(20 + Math.random() * (this.#socket === undefined ? 200 : 1_000));
    this.open();
  }

  #take(text: string): void {
    this.#text += text;
    for (let end = this.#text.indexOf('\n\n'); end >= 0; end = this.#text.indexOf('\n\n')) {
      this.#frame(this.#text.slice(0, end));
      this.#text = this.#text.slice(end + 2);
    }
  }

  #frame(frame: string): void {
    const event = /^event: (\w+)$/m.exec(frame)?.[1];
    const id = /^id: (\S+)$/m.exec(frame)?.[1];
    if (id !== undefined) this.#cursor = id;
    if (event === 'ready') this.#onReady(frame);
    else if (event === 'notification') this.#onNotification(frame);
    else if (event === 'gap' || event === 'reset') this.#problem(`${event} at ${this.#position}`);
  }

  #onReady(frame: string): void {
    const { head, epoch, resume } = JSON.parse(/^data: (.*)$/m.exec(frame)?.[1] ?? '{}');
    this.ready = true;
    this.#connections += 1;
    if (this.#from === undefined) {
      this.#from = head as number;
      this.#position = head as number;
      this.#cursor ??= `${epoch}-${head}`;
    } else if (resume !== 'replayed') {
      this.#problem(`went on with ${resume} at ${this.#position}`);
    }
  }

  #onNotification(frame: string): void {
    const position = Number(/"position":(\d+)/.exec(frame)?.[1]);
    // Earlier positions are the live set with which a panel starts.
    if (position <= (this.#from ?? 0)) return;
    if (position !== this.#position + 1)
      this.#problem(`was sent ${position} where ${this.#position + 1} should have come`);
    this.#position = position;
    this.#sum += hashName(/"title":"([^"]*)"/.exec(frame)?.[1] ?? '');
  }

  #problem(text: string): void {
    if (this.#problems.length < maxProblems) this.#problems.push(text);
  }
}

let readers: StreamReader[] = [];
const allReady = async () => {
  while (!readers.every(({ ready }) => ready)) await moment(20);
};

async function open(options: ConnectOptions): Promise<void> {
  readers = options.panels.map((_, i) => new StreamReader(options, i));
  for (let i = 0; i < readers.length; i++) {
    readers[i]?.open();
    if (i % 100 === 99) await moment(20);
  }
  await allReady();
}

async function breakAll(times: number, withinMs: number): Promise<void> {
  const breaks = readers.flatMap((reader, i) =>
    Array.from({ length: times }, (_, n) => ({
      at: ((n + Math.random()) / times) * withinMs,
      breakage: breakages[(i + n) % breakages.length] as Breakage,
      reader,
    })),
  );
  breaks.sort((a, b) => a.at - b.at);
  const began = performance.now();
  for (const { at, breakage, reader } of breaks) {
    const left = at - (performance.now() - began);
    if (left > 5) await moment(left);
    while (!reader.ready) await moment(5);
    reader.breakOff(breakage);
  }
  await allReady();
}

async function finish(to: number, withinMs: number): Promise<Reader[]> {
  const until = performance.now() + withinMs;
  while (performance.now() < until && readers.some(({ position }) => position < to)) await moment(50);
  return readers.map(({ state }) => state);
}

async function handle(message: ReadersCommand): Promise<unknown> {
  if (message.kind === 'connect') return open(message.options);
  if (message.kind === 'break') return breakAll(message.times, message.withinMs);
  if (message.kind === 'await-connected') return allReady();
  return finish(message.to, message.withinMs);
}

setPriority(5);
process.on(
  'message',
  (message: ReadersCommand) => void handle(message).then((answer) => process.send?.(answer ?? null)),
);
process.on('disconnect', () => process.exit(0));
