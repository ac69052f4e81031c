import type { Card } from '#client/board.ts';
import type { Connection } from '#client/event-stream.ts';
import type { Level } from '#contract/routing/level.ts';
import { ageText } from '#contract/time.ts';
import { element, fill, setText } from '#web/dom.ts';
import { icon } from '#web/icon.ts';
import { type LevelLook, levelLook } from '#web/level-look.ts';
import type { Contact } from '../session.ts';
import { shapeOf } from '../state/card-text.ts';
import type { Clock } from '../state/clock.ts';
import type { Look, OwnChoices } from '../state/look.ts';
import type { PanelTranslate } from '../texts/en.ts';
import { createBoardView, type SeenItem } from './board-view.ts';
import { createFrameView, createNoticeView, type FrameState, type Notice } from './frame-view.ts';
import { createStage } from './stage.ts';
import { createSettingsView, createToolsView } from './tools-view.ts';

export interface PanelViewOptions {
  readonly translate: PanelTranslate;
  readonly server: string;
  readonly look: Look;
  readonly level: (name: string) => Level | undefined;
  readonly serverTime: () => number;
  readonly momentText: (at: number) => string;
  readonly remainingMs: (card: Card) => number | null;
  readonly clear: (card: Card) => void;
  readonly acknowledge: (card: Card) => void;
  readonly acknowledgeAll: (cards: readonly Card[]) => Promise<void>;
  readonly choices: () => OwnChoices;
  readonly choose: (choices: OwnChoices) => void;
  readonly testSound: () => void;
  readonly unpair: () => void;
  readonly onResize: () => void;
}

/** Everything that the page shows at one moment. */
export interface PanelMoment {
  readonly name: string;
  /** The title of the panel's tenant; undefined until the first settings. */
  readonly tenantTitle: string | undefined;
  /** The highest in rank first, then the newest. */
  readonly cards: readonly Card[];
  /** Whether there may be more live notifications than these. */
  readonly isPartial: boolean;
  readonly serverTime: number;
  readonly clock: Clock;
  readonly contact: Contact;
  readonly connection: Connection;
  /** When the server last sent something, in server time. */
  readonly lastContactAt: number | undefined;
  /** Since when nothing is shown, and whether anything was shown before. */
  readonly quiet: { readonly since: number; readonly wasBusy: boolean } | undefined;
  readonly soundLocked: boolean;
  readonly dimmed: boolean;
  readonly shift: readonly [x: number, y: number];
}

export interface PanelView {
  /** Returns what is on the screen now. */
  render(moment: PanelMoment): readonly SeenItem[];
  tick(): void;
  readonly lookOf: (level: string) => LevelLook;
  /** Not all cards fit: similar ones are one item. */
  readonly isFlood: boolean;
  readonly settingsOpen: boolean;
  openSettings(): void;
  /** Announces a new card to screen readers. */
  announce(card: Card): void;
  /** Shows a sentence at the edge of the screen for a few seconds. */
  showMessage(sentence: string): void;
  close(): void;
}

const messageMs = 6_000;

export function createPanelView(root: HTMLElement, options: PanelViewOptions): PanelView {
  const { translate, look } = options;
  const stage = createStage(look.scale, options.onResize);
  const lookOf = (name: string) =>
    levelLook(name, options.level(name), look.scheme, (word) => translate(`level.${word}` as 'level.info'));
  const frame = createFrameView(translate, lookOf);
  const notice = createNoticeView();
  const grid = element('div', { class: 'cards' });
  const board = createBoardView(grid, stage, { ...options, lookOf, labels: look.labels });
  const settings = createSettingsView(options);
  const toggleSound = () => options.choose({ sound: !look.sound });
  const openSettings = () => settings.open();
  const tools = createToolsView({ translate, isSoundOn: look.sound, toggleSound, openSettings });
  const hint = element(
    'div',
    { class: 'hint' },
    icon('volume-off'),
    element('span', { text: translate('soundLocked') }),
  );
  const message = element('div', { class: 'message', role: 'status' });
  const announcement = element('div', { class: 'announcement', 'aria-live': 'assertive' });
  const main = element('main', {}, notice.root, grid);
  const screen = element('div', { class: 'screen' }, frame.header, main, frame.footer);
  const night = element('div', { class: 'night', 'aria-hidden': 'true' });
  const asides = element('aside', { 'aria-label': translate('asides') }, message, announcement);
  const dock = element('div', { class: 'dock' }, tools.root, asides);
  fill(root, screen, night, dock, settings.root, board.details);

  return {
    render(moment) {
      const { contact, shift } = moment;
      const words = wordsOf(moment, options);
      frame.update({ ...moment, ...words });
      notice.show(words.notice);
      screen.classList.toggle('stale', contact.state === 'stale');
      night.classList.toggle('dimmed', moment.dimmed);
      hint.hidden = !moment.soundLocked;
      // On a wall it has room of its own in the footer, so that it covers nothing; on a phone it stays in sight.
      const place = stage.area().isNarrow ? asides : frame.footer;
      if (hint.parentElement !== place) place.insertBefore(hint, place.lastElementChild);
      // A page that scrolls does not stand still for hours.
      const moved = stage.area().scrolls ? '' : `translate(${shift[0]}px, ${shift[1]}px)`;
      if (screen.style.transform !== moved) screen.style.transform = moved;
      document.title = titleOf(moment);
      const shown = board.render(moment, look.maxCards);
      night.classList.toggle(
        'urgent',
        shown.some(({ cards }) => cards.some((card) => shapeOf(card) === 'critical')),
      );
      return shown;
    },
    tick: () => board.tick(),
    lookOf,
    get isFlood() {
      return board.isFlood;
    },
    get settingsOpen() {
      return settings.root.open;
    },
    openSettings,
    announce({ notification: { level, title } }) {
      setText(announcement, `${lookOf(level).word}: ${title}`);
    },
    showMessage(sentence) {
      // What is open as a dialog covers everything else.
      (board.details.open ? board.details : asides).prepend(message);
      setText(message, sentence);
      setTimeout(() => setText(message, ''), messageMs);
    },
    close() {
      stage.close();
      tools.close();
    },
  };
}

type Words = Pick<FrameState, 'line' | 'health' | 'stale'> & { readonly notice: Notice | undefined };

/** The texts of the footer, the banner and the notice in place of cards. */
function wordsOf(moment: PanelMoment, { translate, server }: PanelViewOptions): Words {
  const { contact, connection, cards, clock, lastContactAt } = moment;
  const isStale = contact.state === 'stale';
  const isLost = isStale || contact.state === 'lost';
  const isSuspended = connection.state === 'waiting' && connection.suspended === true;
  const suspended = { head: translate('suspended'), detail: translate('suspendedDetail') };
  const time = lastContactAt === undefined ? '' : clock.time(lastContactAt);
  const lost = translate('noContact', { time });
  const age = ageText(contact.silentMs);
  const line = (() => {
    if (connection.state === 'online') return isLost ? lost : translate('connected', { age });
    if (connection.state === 'connecting') return translate('connecting');
    if (isSuspended) return translate('suspended');
    return translate('retrying', { n: Math.max(1, Math.round(connection.retryInMs / 1_000)) });
  })();
  return {
    line,
    health: isStale ? 'stale' : connection.state === 'online' && !isLost ? 'online' : 'waiting',
    stale: isSuspended
      ? suspended
      : isLost
        ? { head: lost, detail: translate('noContactDetail') }
        : undefined,
    notice:
      cards.length > 0
        ? undefined
        : isSuspended
          ? { kind: 'connecting', ...suspended }
          : noticeOf(moment, translate, server),
  };
}

function noticeOf(
  { contact, connection, isPartial, quiet, clock }: PanelMoment,
  translate: PanelTranslate,
  server: string,
): Notice | undefined {
  if (contact.state === 'never') {
    if (connection.state !== 'waiting')
      return {
        kind: 'connecting',
        head: translate('connecting'),
        detail: translate('connectingTo', { server }),
      };
    const { reason, answered } = connection;
    return {
      kind: 'problem',
      head: translate('notYet'),
      detail: answered ? translate('notYetReason', { reason }) : translate('notYetDetail', { server }),
    };
  }
  if (isPartial)
    return { kind: 'connecting', head: translate('moreLive'), detail: translate('moreLiveDetail') };
  if (!quiet) return undefined;
  const detail = translate(quiet.wasBusy ? 'quietSince' : 'watchingSince', { time: clock.time(quiet.since) });
  return { kind: 'quiet', head: translate('allQuiet'), detail };
}

/** The tab shows the number of cards too. */
function titleOf({ name, cards }: PanelMoment): string {
  return cards.length === 0 ? `${name} · Belfry` : `(${cards.length}) ${name} · Belfry`;
}
