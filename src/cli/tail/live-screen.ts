import type { Io } from '../io.ts';

export interface LiveScreenOptions {
  readonly onResize: () => void;
  /** The reader pressed q or Ctrl-C. */
  readonly onLeave: () => void;
}

type ScreenIo = Pick<Io, 'stdin' | 'stdout' | 'onEnd'>;

/** Alternate screen, no cursor, no wrapping of long rows; and back. */
const enter = '\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J';
const leave = '\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l';
/** The terminal shows the frame at once or not at all; those that do not know this ignore it. */
const beginFrame = '\x1b[?2026h\x1b[H';
const endFrame = '\x1b[?2026l';
const ctrlC = '\x03';

/** The whole terminal, for as long as it is open; what was on it before is there again afterwards, also after a crash. */
export class LiveScreen {
  readonly #io: ScreenIo;
  readonly #onResize: () => void;
  readonly #onKey: (data: Buffer) => void;
  readonly #forget: () => void;
  #last = '';
  #closed = false;

  constructor(io: ScreenIo, { onResize, onLeave }: LiveScreenOptions) {
    this.#io = io;
    this.#onResize = () => {
      this.#last = '';
      onResize();
    };
    this.#onKey = (data) => {
      const keys = data.toString('latin1');
      if (/q/i.test(keys) || keys.includes(ctrlC)) onLeave();
    };
    this.#forget = io.onEnd(() => this.close());
    io.stdout.on('resize', this.#onResize);
    io.stdout.write(enter);
    if (io.stdin.isTTY) {
      io.stdin.setRawMode(true);
      io.stdin.on('data', this.#onKey);
      io.stdin.resume();
    }
  }

  get width(): number {
    return this.#io.stdout.columns || 80;
  }

  get height(): number {
    return this.#io.stdout.rows || 24;
  }

  /** Shows these rows, from the top; each is painted and no wider than the screen. A terminal that lags skips frames. */
  draw(rows: readonly string[]): void {
    const frame = rows.map((row) => `\x1b[2K${row}`).join('\r\n');
    if (this.#closed || frame === this.#last || this.#io.stdout.writableNeedDrain) return;
    this.#last = frame;
    this.#io.stdout.write(`${beginFrame}${frame}${endFrame}`);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#forget();
    const { stdin, stdout } = this.#io;
    stdout.off('resize', this.#onResize);
    if (stdin.isTTY) {
      stdin.off('data', this.#onKey);
      stdin.setRawMode(false);
      stdin.pause();
    }
    stdout.write(leave);
  }
}
