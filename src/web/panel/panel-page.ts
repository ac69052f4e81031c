import { version } from 'virtual:version';
import type { BoardChange } from '#client/board.ts';
import { createScreenClient, type ScreenClient } from '#client/client.ts';
import { createElapsedClock } from '#client/timing.ts';
import type { SettingsEvent } from '#contract/panels/panel.ts';
import { createTranslate } from '../language.ts';
import { Sound } from '../sound.ts';
import type { ScreenStore, StoredPairing } from './pairing.ts';
import { type CommandEvent, type EndReason, reasonOf, Session } from './session.ts';
import { type Hearing, PanelSound } from './state/card-sounds.ts';
import { type Clock, createClock, isWithin } from './state/clock.ts';
import { type Look, lookOf, type OwnChoices } from './state/look.ts';
import type { PanelTexts, PanelTranslate } from './texts/en.ts';
import { pixelShift, reloadIfNew, reloadOnCommand } from './unattended.ts';
import { createOverlay, createTestCard } from './view/overlay-view.ts';
import { createPanelView, type PanelView } from './view/panel-view.ts';
import { toggleFullscreen } from './view/tools-view.ts';

/** Limits painting to four times a second, so that people can read a flood; urgent changes are painted at once. */
export interface Painter {
  paint(when: 'now' | 'soon'): void;
  stop(): void;
}

const calmMs = 250;

function createPainter(paint: () => void): Painter {
  let frame: number | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let paintedAt = Number.NEGATIVE_INFINITY;
  const stop = () => {
    if (frame !== undefined) cancelAnimationFrame(frame);
    clearTimeout(timer);
    frame = undefined;
    timer = undefined;
  };
  const request = () => {
    timer = undefined;
    frame ??= requestAnimationFrame(() => {
      frame = undefined;
      paint();
      paintedAt = performance.now();
    });
  };
  return {
    paint(when) {
      if (frame !== undefined) return;
      const wait = when === 'now' ? 0 : paintedAt + calmMs - performance.now();
      if (wait <= 0) {
        clearTimeout(timer);
        request();
      } else timer ??= setTimeout(request, wait);
    },
    stop,
  };
}

/** Why the screen has to be paired again, as the key of the sentence that says so. */
export type PanelEnd = 'endedRevoked' | 'endedRefused' | 'endedDeleted' | 'endedUnpaired' | 'endedNotRevoked';

export interface PanelPageOptions {
  readonly store: ScreenStore;
  readonly server: string;
  readonly languages: { readonly en: PanelTexts; readonly de: PanelTexts };
  readonly root: HTMLElement;
}

const endings: Readonly<Record<EndReason, PanelEnd>> = {
  revoked: 'endedRevoked',
  refused: 'endedRefused',
  deleted: 'endedDeleted',
};
const tickMs = 500;
const urgentRank = 50;
/** A test sound never interrupts the sound of a notification. */
const testRank = 0;
/** Screen readers announce notifications from this rank on; more would be too much. */
const announceRank = 40;

/** Shows the paired panel until its token is revoked or the panel is deleted; returns why it ended. */
export async function showPanel(pairing: StoredPairing, options: PanelPageOptions): Promise<PanelEnd> {
  const page = new PanelPage(pairing, options);
  try {
    return await page.run();
  } finally {
    page.close();
  }
}

class PanelPage {
  readonly #pairing: StoredPairing;
  readonly #options: PanelPageOptions;
  readonly #client: ScreenClient;
  readonly #elapsed = createElapsedClock();
  readonly #session: Session;
  readonly #painter = createPainter(() => this.#paint());
  readonly #sound = new Sound(() => this.#painter.paint('soon'));
  readonly #panelSound: PanelSound;
  readonly #overlay = createOverlay(() => this.#painter.paint('now'));
  readonly #stop = new AbortController();
  readonly #light = matchMedia('(prefers-color-scheme: light)');
  #look: Look;
  #clock: Clock;
  #view: PanelView;
  /** The look and levels that the view was built with; it is rebuilt when they change. */
  #style = '';
  #settings: SettingsEvent | undefined;
  /** Since when (server time) nothing is shown, and whether something was shown before. */
  #quiet: { readonly since: number; readonly wasBusy: boolean } | undefined;

  constructor(pairing: StoredPairing, options: PanelPageOptions) {
    this.#pairing = pairing;
    this.#options = options;
    this.#client = createScreenClient({ url: options.server, token: pairing.token });
    this.#session = new Session({
      client: this.#client,
      panelId: pairing.panelId,
      screen: `panel/${version}`,
      clock: this.#elapsed,
      onChange: (changes) => this.#changed(changes),
      onCommand: (command) => this.#runCommand(command),
      onReturn: () => void reloadIfNew().catch(() => undefined),
    });
    this.#panelSound = new PanelSound(this.#session, this.#sound);
    this.#look = this.#readLook();
    this.#clock = createClock(this.#look.locale, this.#look.timeZone);
    this.#view = this.#createView();
  }

  async run(): Promise<PanelEnd> {
    const { signal } = this.#stop;
    const tick = setInterval(() => this.#tick(), tickMs);
    const unlock = () => this.#sound.unlock();
    const key = (event: KeyboardEvent) => this.#key(event);
    const restyle = () => this.#restyle();
    const repaint = () => this.#painter.paint('now');
    addEventListener('pointerdown', unlock);
    addEventListener('keydown', key);
    this.#light.addEventListener('change', restyle);
    document.addEventListener('visibilitychange', repaint);
    signal.addEventListener('abort', () => {
      clearInterval(tick);
      removeEventListener('pointerdown', unlock);
      removeEventListener('keydown', key);
      this.#light.removeEventListener('change', restyle);
      document.removeEventListener('visibilitychange', repaint);
    });
    this.#painter.paint('now');
    const reason = await this.#session.run(signal);
    if (reason) return endings[reason];
    return (await this.#session.unpair()) ? 'endedUnpaired' : 'endedNotRevoked';
  }

  close(): void {
    this.#stop.abort();
    this.#overlay.close();
    this.#painter.stop();
    this.#view.close();
    this.#sound.close();
  }

  #changed(changes: readonly BoardChange[]): void {
    const added = changes.flatMap(({ kind, card }) => (kind === 'added' ? [card] : []));
    this.#applySettings();
    this.#panelSound.arrived(added, this.#hearing());
    const fresh = added.filter(({ notification }) => !this.#session.isKnown(notification.id));
    const isUrgent = fresh.some(({ notification }) => notification.rank >= urgentRank);
    const announced = fresh.filter(({ notification }) => notification.rank >= announceRank).pop();
    if (announced) this.#view.announce(announced);
    if (isUrgent) this.#overlay.close();
    // In a flood each second one may be urgent.
    this.#painter.paint(isUrgent && !this.#view.isFlood ? 'now' : 'soon');
  }

  #hearing(): Hearing {
    const serverTime = this.#serverTime();
    const { sound, quiet } = this.#look;
    const isQuiet = quiet !== undefined && isWithin(quiet, this.#clock.minuteOfDay(serverTime));
    return { isOn: sound, isQuiet, serverTime, isFlood: this.#view.isFlood };
  }

  #tick(): void {
    this.#session.expire();
    this.#panelSound.repeat(this.#hearing(), this.#elapsed.now());
    this.#painter.paint('soon');
    this.#view.tick();
    this.#overlay.tick(this.#clock.time(this.#serverTime()));
  }

  #serverTime(): number {
    return this.#session.board.serverTime(this.#elapsed.now());
  }

  #paint(): void {
    const { board, contact, connection, lastContactAt } = this.#session;
    const serverTime = this.#serverTime();
    const cards = board.cards();
    if (contact.state === 'never' || cards.length > 0 || board.isFilling || board.isPartial)
      this.#quiet = undefined;
    else this.#quiet ??= { since: serverTime, wasBusy: this.#session.wasBusy };
    const { dim } = this.#look;
    const shown = this.#view.render({
      cards,
      isPartial: board.isPartial,
      name: board.settings?.panel.name ?? this.#pairing.panelName,
      tenantTitle: board.settings?.tenant.title,
      serverTime,
      clock: this.#clock,
      contact,
      connection,
      lastContactAt: lastContactAt === undefined ? undefined : board.serverTime(lastContactAt),
      quiet: this.#quiet,
      soundLocked: this.#look.sound && this.#sound.locked,
      dimmed: dim !== undefined && isWithin(dim, this.#clock.minuteOfDay(serverTime)),
      shift: pixelShift(serverTime),
    });
    // A receipt confirms that people could see the card.
    if (document.visibilityState === 'visible' && !this.#overlay.isOpen) this.#session.shown(shown);
  }

  #readLook(): Look {
    return lookOf(this.#session.board.settings, this.#options.store.choices(), {
      languages: navigator.languages,
      timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      prefersLight: this.#light.matches,
    });
  }

  /** Applies settings that have changed. */
  #applySettings(): void {
    const { settings } = this.#session.board;
    if (settings === this.#settings) return;
    this.#settings = settings;
    if (this.#styleNow() !== this.#style) this.#restyle();
  }

  #styleNow(): string {
    return JSON.stringify([this.#readLook(), this.#session.board.settings?.levels]);
  }

  /** Rebuilds the page after a choice on this screen or a change of the panel's settings; the cards stay. */
  #restyle(): void {
    const { settingsOpen } = this.#view;
    const buttons = () => [...document.querySelectorAll<HTMLElement>('dialog button')];
    const focused = buttons().indexOf(document.activeElement as HTMLElement);
    this.#view.close();
    this.#look = this.#readLook();
    this.#clock = createClock(this.#look.locale, this.#look.timeZone);
    this.#view = this.#createView();
    if (settingsOpen) this.#view.openSettings();
    buttons()[focused]?.focus();
    this.#painter.paint('now');
  }

  #createView(): PanelView {
    const { languages, root, store, server } = this.#options;
    const { board } = this.#session;
    const { language, translate } = createTranslate(languages, this.#look.languages);
    document.documentElement.lang = language;
    document.documentElement.classList.toggle('light', this.#look.scheme === 'light');
    this.#style = this.#styleNow();
    const view = createPanelView(root, {
      translate,
      server,
      look: this.#look,
      level: (name) => board.level(name),
      serverTime: () => this.#serverTime(),
      momentText: (at) => this.#clock.moment(at, this.#serverTime()),
      remainingMs: ({ endsAt }) => (endsAt === null ? null : endsAt - this.#elapsed.now()),
      clear: ({ notification: { id } }) => this.#report(this.#client.clear(id), 'clearFailed', translate),
      acknowledge: ({ notification: { id } }) =>
        this.#report(this.#client.acknowledge(id), 'acknowledgeFailed', translate),
      acknowledgeAll: async (cards) => {
        const { failed, reason } = await this.#session.acknowledge(cards);
        if (failed === 0) return;
        this.#view.showMessage(translate('someNotAcknowledged', { n: failed, of: cards.length, reason }));
      },
      choices: () => store.choices(),
      choose: (choices) => this.#choose(choices),
      testSound: () => this.#sound.play('chime', testRank),
      unpair: () => this.#stop.abort(),
      onResize: () => this.#painter.paint('now'),
    });
    root.append(this.#overlay.root);
    return view;
  }

  /** Runs a command that somebody sent from the dashboard. */
  #runCommand(command: CommandEvent): void {
    if (command.type === 'reload') {
      reloadOnCommand();
      return;
    }
    const { board } = this.#session;
    const { panel, levels = [] } = board.settings ?? {};
    const name = panel?.name ?? this.#pairing.panelName;
    const translate = this.#translate();
    const { durationMs } = command.data;
    if (command.type === 'identify') {
      this.#overlay.identify(name, panel?.location ?? null, durationMs, translate);
      return;
    }
    const { sound, scale } = this.#look;
    const isHeard = sound && this.#sound.play('chime', testRank);
    const card = createTestCard({
      name,
      levels,
      scale,
      version,
      translate,
      time: this.#clock.time(this.#serverTime()),
      sound: isHeard ? 'played' : sound && this.#sound.locked ? 'locked' : 'off',
      lookOf: this.#view.lookOf,
    });
    this.#overlay.test(card, durationMs);
  }

  #translate(): PanelTranslate {
    return createTranslate(this.#options.languages, this.#look.languages).translate;
  }

  #choose(choices: OwnChoices): void {
    const { store } = this.#options;
    store.setChoices({ ...store.choices(), ...choices });
    this.#restyle();
  }

  /** Shows why a request failed. After one that succeeded the card changes when the stream reports it, as on every other screen. */
  #report(
    request: Promise<unknown>,
    failed: 'clearFailed' | 'acknowledgeFailed',
    translate: PanelTranslate,
  ): void {
    request.catch((error: unknown) => {
      this.#view.showMessage(translate(failed, { reason: reasonOf(error) }));
    });
  }

  #key({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): void {
    this.#sound.unlock();
    if (key === 'Escape') this.#overlay.close();
    if (ctrlKey || metaKey || altKey) return;
    if (key === 'f' || key === 'F') toggleFullscreen();
    if (key === 's' || key === 'S') this.#view.openSettings();
    if (key === 'm' || key === 'M') this.#choose({ sound: !this.#look.sound });
  }
}
