import type { Board, BoardChange } from '#client/board.ts';
import type { Connection } from '#client/event-stream.ts';
import type { Io } from '../io.ts';
import { LiveScreen } from '../terminal/live-screen.ts';
import { colorDepth, createPaint, type Paint } from '../terminal/paint.ts';
import type { PanelSurface } from './follow-panel.ts';
import { panelView } from './panel-view.ts';

export interface ScreenViewOptions {
  readonly name: string;
  /** Is told of the notifications that can be read on the screen, each time anew. */
  readonly onSeen: (ids: readonly string[]) => void;
  readonly onLeave: () => void;
}

/** A burst of events is drawn once in this time. */
const frameMs = 50;

/** Draws the panel on the whole terminal. */
export class ScreenView implements PanelSurface {
  readonly #options: ScreenViewOptions;
  readonly #screen: LiveScreen;
  readonly #paint: Paint;
  #board: Board | undefined;
  /** As it was told last. */
  #now = Date.now();
  #connection: Connection = { state: 'connecting' };
  #heardAt: number | undefined;
  #retryAt: number | undefined;
  #frame: NodeJS.Timeout | undefined;

  constructor(io: Io, options: ScreenViewOptions) {
    this.#options = options;
    this.#paint = createPaint(colorDepth(io.env, io.stdout.getColorDepth({ ...io.env })));
    const onResize = () => this.#draw();
    this.#screen = new LiveScreen(io, { onResize, onLeave: options.onLeave });
    this.#draw();
  }

  heard(board: Board, _changes: readonly BoardChange[], now: number): void {
    this.#board = board;
    this.#now = now;
    this.#heardAt = now;
    this.#frame ??= setTimeout(() => this.#draw(), frameMs);
  }

  passed(board: Board, _expired: readonly BoardChange[], now: number): void {
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

  async ready(): Promise<void> {}

  close(): void {
    clearTimeout(this.#frame);
    this.#screen.close();
  }

  #draw(): void {
    clearTimeout(this.#frame);
    this.#frame = undefined;
    const { width, height } = this.#screen;
    const board = this.#board;
    const settings = board?.settings;
    const serverTime = (at: number | undefined) =>
      at === undefined ? undefined : (board?.serverTime(at) ?? at);
    const { rows, shown } = panelView({
      width,
      height,
      paint: this.#paint,
      name: settings?.panel.name ?? this.#options.name,
      cards: board?.cards() ?? [],
      level: (name) => board?.level(name),
      isFilling: board?.isFilling ?? true,
      isPartial: board?.isPartial ?? false,
      now: serverTime(this.#now) ?? this.#now,
      elapsed: this.#now,
      connection: this.#connection,
      heardAt: serverTime(this.#heardAt),
      retryAt: serverTime(this.#retryAt),
      timeZone: settings?.panel.display.timeZone,
    });
    this.#screen.draw(rows);
    this.#options.onSeen(shown);
  }
}
