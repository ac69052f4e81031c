import { connect, type Socket } from 'node:net';
import { setTimeout as moment } from 'node:timers/promises';

export interface DullOptions {
  readonly port: number;
  readonly token: string;
  readonly panel: string;
  readonly cursor?: string;
  /** How it reads on once the stream has begun: nothing, or a byte a second. */
  readonly reads: 'nothing' | 'a byte a second';
}

/** A panel that takes what its stream begins with, and then hardly anything. */
export class DullReader {
  readonly #socket: Socket;
  #text = '';

  constructor({ port, token, panel, cursor, reads }: DullOptions) {
    const byte = Buffer.alloc(reads === 'nothing' ? 65_536 : 1);
    const callback = (bytes: number, buffer: Uint8Array) => {
      if (!this.begun) {
        this.#text += Buffer.from(buffer.subarray(0, bytes)).toString('latin1');
        return true;
      }
      if (reads === 'a byte a second') void moment(1_000).then(() => this.#socket.resume());
      return false;
    };
    this.#socket = connect({ port, host: '127.0.0.1', onread: { buffer: byte, callback } });
    const resume = cursor === undefined ? '' : `last-event-id: ${cursor}\r\n`;
    this.#socket.write(
      `GET /api/panels/${panel}/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n${resume}\r\n`,
    );
    this.#socket.on('error', () => undefined);
  }

  /** It has been told where it begins. */
  get begun(): boolean {
    return /^event: ready[\s\S]*?\n\n/m.test(this.#text);
  }

  /** Where it would go on. */
  get cursor(): string {
    const { epoch, head } = JSON.parse(/^event: ready\ndata: (.*)$/m.exec(this.#text)?.[1] ?? '{}');
    return `${epoch}-${head}`;
  }

  close(): void {
    this.#socket.destroy();
  }
}
