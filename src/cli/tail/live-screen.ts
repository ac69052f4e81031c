import type { Io } from '../io.ts';

export interface LiveScreenOptions {
  readonly onResize: () => void;
  /** The reader pressed q or Ctrl-C. */
  readonly onLeave: () => void;
}

type ScreenIo = Pick<Io, 'stdin' | 'stdout' | 'onEnd'>;

/** Switches to the alternate screen, without cursor and line wrapping; `leave` switches back. */
const enter = '\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J';
const leave = '\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l';
/** Synchronized output: the terminal shows a frame at once. Terminals without support ignore the sequence. */
const beginFrame = '\x1b[?2026h\x1b[H';
const endFrame = '\x1b[?2026l';
const ctrlC = '\x03';

/** Takes over the whole terminal until it is closed. Then the previous content is restored, also after a crash. */
export class LiveScreen {
  readonly #io: ScreenIo;
  readonly #onResize: () => void;
  readonly #onKey: (data: Buffer) => void;
  readonly #removeEndListener: () => void;
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
    this.#removeEndListener = io.onEnd(() => this.close());
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

  /** Draws the rows from the top. A row may contain color codes and must fit the width. A slow terminal skips frames. */
  draw(rows: readonly string[]): void {
    const frame = rows.map((row) => `\x1b[2K${row}`).join('\r\n');
    if (this.#closed || frame === this.#last || this.#io.stdout.writableNeedDrain) return;
    this.#last = frame;
    this.#io.stdout.write(`${beginFrame}${frame}${endFrame}`);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#removeEndListener();
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
