import type { Board, BoardChange } from '#client/board.ts';
import type { Connection } from '#client/event-stream.ts';
import type { Io } from '../io.ts';
import type { PanelView } from './follow-panel.ts';
import { panelRows, type Scene } from './panel-rows.ts';

interface ScreenViewOptions {
  readonly name: string;
  /** Called with the notifications that can be read on the screen, on each draw. */
  readonly onShown: (ids: readonly string[]) => void;
  readonly onLeave: () => void;
}

/** The least time between two draws during a burst of events. */
const frameMs = 50;

/** Draws the panel on the whole terminal. */
export class ScreenView implements PanelView {
  readonly #options: ScreenViewOptions;
  readonly #screen: LiveScreen;
  readonly #colors: Scene['colors'];
  #board: Board | undefined;
  #now = Date.now();
  #connection: Connection = { state: 'connecting' };
  #lastEventAt: number | undefined;
  #retryAt: number | undefined;
  #frame: NodeJS.Timeout | undefined;

  constructor(io: Io, options: ScreenViewOptions) {
    this.#options = options;
    this.#colors = colorsOf(io);
    this.#screen = new LiveScreen(io, { onResize: () => this.#draw(), onLeave: options.onLeave });
    this.#draw();
  }

  update(board: Board, _changes: readonly BoardChange[], now: number): void {
    this.#board = board;
    this.#now = now;
    this.#lastEventAt = now;
    this.#frame ??= setTimeout(() => this.#draw(), frameMs);
  }

  tick(board: Board, now: number): void {
    this.#board = board;
    this.#now = now;
    this.#draw();
  }

  connection(connection: Connection, now: number): void {
    this.#connection = connection;
    this.#now = now;
    if (connection.state === 'waiting') this.#retryAt = now + connection.retryInMs;
    this.#draw();
  }

  async drained(): Promise<void> {}

  close(): void {
    clearTimeout(this.#frame);
    this.#screen.close();
  }

  #draw(): void {
    clearTimeout(this.#frame);
    this.#frame = undefined;
    const board = this.#board;
    const settings = board?.settings;
    const serverTime = (at: number) => board?.serverTime(at) ?? at;
    const { rows, shown } = panelRows({
      width: this.#screen.width,
      height: this.#screen.height,
      colors: this.#colors,
      name: settings?.panel.name ?? this.#options.name,
      cards: board?.cards() ?? [],
      level: (name) => board?.level(name),
      isFilling: board?.isFilling ?? true,
      isPartial: board?.isPartial ?? false,
      now: serverTime(this.#now),
      elapsed: this.#now,
      connection: this.#connection,
      lastEventAt: this.#lastEventAt === undefined ? undefined : serverTime(this.#lastEventAt),
      retryAt: this.#retryAt === undefined ? undefined : serverTime(this.#retryAt),
      timeZone: settings?.panel.display.timeZone,
    });
    this.#screen.draw(rows);
    this.#options.onShown(shown);
  }
}

/** The color depth of the terminal. NO_COLOR (no-color.org) has precedence. */
function colorsOf({ env, stdout }: Io): Scene['colors'] {
  const bits = env.NO_COLOR ? 1 : stdout.getColorDepth({ ...env });
  if (bits >= 24) return 'truecolor';
  return bits >= 4 ? 'ansi16' : 'none';
}

interface LiveScreenOptions {
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
