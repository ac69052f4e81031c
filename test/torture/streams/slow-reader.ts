import { connect, type Socket } from 'node:net';
import { setTimeout as moment } from 'node:timers/promises';

export interface SlowReaderOptions {
  readonly port: number;
  readonly token: string;
  readonly panel: string;
  readonly cursor?: string;
  /** What it reads after the `ready` event: nothing, or a byte a second. */
  readonly reads: 'nothing' | 'a byte a second';
}

/** A panel that reads the beginning of its stream, and then hardly anything. */
export class SlowReader {
  readonly #socket: Socket;
  #text = '';

  constructor({ port, token, panel, cursor, reads }: SlowReaderOptions) {
    const buffer = Buffer.alloc(reads === 'nothing' ? 65_536 : 1);
    const callback = (bytes: number, received: Uint8Array) => {
      if (!this.begun) {
        this.#text += Buffer.from(received.subarray(0, bytes)).toString('latin1');
        return true;
      }
      if (reads === 'a byte a second') void moment(1_000).then(() => this.#socket.resume());
      return false;
    };
    this.#socket = connect({ port, host: '127.0.0.1', onread: { buffer, callback } });
    const resume = cursor === undefined ? '' : `last-event-id: ${cursor}\r\n`;
    this.#socket.write(
      `GET /api/panels/${panel}/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n${resume}\r\n`,
    );
    this.#socket.on('error', () => undefined);
  }

  /** It has received `ready`. */
  get begun(): boolean {
    return /^event: ready[\s\S]*?\n\n/m.test(this.#text);
  }

  /** The cursor at which it would resume. */
  get cursor(): string {
    const { epoch, head } = JSON.parse(/^event: ready\ndata: (.*)$/m.exec(this.#text)?.[1] ?? '{}');
    return `${epoch}-${head}`;
  }

  close(): void {
    this.#socket.destroy();
  }
}
