/** Covers the screen for some seconds on a command from the dashboard: with the panel's name, or with the test card. */
import type { Level } from '#contract/routing/level.ts';
import { element, fill, setText } from '#web/dom.ts';
import { icon } from '#web/icon.ts';
import type { LevelLook } from '#web/level-look.ts';
import type { PanelTranslate } from '../texts/en.ts';

export interface Overlay {
  readonly root: HTMLElement;
  /** While open, it hides the cards. */
  readonly isOpen: boolean;
  identify(name: string, location: string | null, durationMs: number, translate: PanelTranslate): void;
  test(card: TestCard, durationMs: number): void;
  /** Updates the clock of the test card. */
  tick(time: string): void;
  close(): void;
}

/** A touch or the Escape key closes it too; `onClose` is called each time. */
export function createOverlay(onClose: () => void): Overlay {
  const root = element('div', { class: 'overlay', role: 'status' });
  root.hidden = true;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let card: TestCard | undefined;

  const close = () => {
    if (root.hidden) return;
    clearTimeout(timer);
    root.hidden = true;
    fill(root);
    card = undefined;
    onClose();
  };
  const open = (content: HTMLElement, durationMs: number) => {
    clearTimeout(timer);
    fill(root, content);
    root.hidden = false;
    timer = setTimeout(close, durationMs);
  };
  root.addEventListener('click', close);
  return {
    root,
    get isOpen() {
      return !root.hidden;
    },
    identify(name, location, durationMs, translate) {
      card = undefined;
      open(identification(name, location, translate), durationMs);
    },
    test(next, durationMs) {
      card = next;
      open(next.root, durationMs);
    },
    tick: (time) => card && setText(card.clock, time),
    close,
  };
}

/** The font size depends on the length of the name: a short name fills the screen, a long one still fits. */
const maxFontSize = 280;
const minFontSize = 84;
const fontSizeTimesLetters = 3_000;

function identification(name: string, location: string | null, translate: PanelTranslate): HTMLElement {
  const size = Math.max(minFontSize, Math.min(maxFontSize, fontSizeTimesLetters / Array.from(name).length));
  const strong = element('strong', { text: name, dir: 'auto' });
  strong.style.setProperty('--size', String(Math.round(size)));
  const parts = [element('span', { text: translate('thisIs') }), strong];
  if (location !== null) parts.push(element('span', { text: location, dir: 'auto' }));
  return element('div', { class: 'identify' }, ...parts);
}

/** A test picture with all levels, colors and sounds, so that people can check the screen from a distance. */
interface TestCard {
  readonly root: HTMLElement;
  readonly clock: HTMLElement;
}

interface TestCardOptions {
  readonly name: string;
  readonly levels: readonly Level[];
  readonly scale: number;
  readonly version: string;
  readonly time: string;
  /** Whether the test sound was heard. */
  readonly sound: 'played' | 'locked' | 'off';
  readonly lookOf: (level: string) => LevelLook;
  readonly translate: PanelTranslate;
}

/** The highest in rank; more have no room. */
const maxLevels = 12;
/** A card is filled with its colour from this rank on, as on the board. */
const filledRank = 50;
const corners = ['top left', 'top right', 'bottom left', 'bottom right'];
const soundTexts = { played: 'testSoundPlayed', locked: 'soundLocked', off: 'soundOff' } as const;

export function createTestCard(options: TestCardOptions): TestCard {
  const { name, levels, scale, version, time, sound, lookOf, translate } = options;
  const clock = element('time', { class: 'clock', text: time });
  const shown = [...levels].sort((a, b) => b.rank - a.rank).slice(0, maxLevels);
  const size = {
    width: String(innerWidth),
    height: String(innerHeight),
    ratio: String(Math.round(devicePixelRatio * 100) / 100),
    scale: String(Math.round(scale * 100)),
  };
  const root = element(
    'div',
    { class: 'test-card' },
    ...corners.map((corner) => element('i', { class: `corner ${corner}`, 'aria-hidden': 'true' })),
    element(
      'div',
      { class: 'test-head' },
      element('span', { text: translate('testCard') }),
      element('h2', { text: name, dir: 'auto' }),
      element('p', { class: 'mono', text: `${translate('testSize', size)} · Belfry ${version}` }),
    ),
    element('ul', { class: 'test-levels' }, ...shown.map((level) => tile(level, lookOf(level.name)))),
    element(
      'div',
      { class: 'test-foot' },
      clock,
      element(
        'span',
        { class: 'test-sound' },
        icon(sound === 'played' ? 'volume' : 'volume-off'),
        element('span', { text: translate(soundTexts[sound]) }),
      ),
      element('div', { class: 'test-greys', 'aria-hidden': 'true' }, ...greys()),
    ),
  );
  return { root, clock };
}

function tile({ rank }: Level, { word, icon: name, color, fill }: LevelLook): HTMLElement {
  const isFilled = rank >= filledRank;
  const item = element(
    'li',
    { class: isFilled ? 'filled' : '' },
    icon(name),
    element('span', { text: word, dir: 'auto' }),
  );
  item.style.setProperty('--c', isFilled ? '#fff' : color);
  item.style.setProperty('--fill', fill);
  return item;
}

/** If all steps can be told apart, the screen is neither too bright nor too dark. */
function greys(): HTMLElement[] {
  return Array.from({ length: 12 }, (_, step) => {
    const field = element('i');
    field.style.opacity = String(step / 11);
    return field;
  });
}

/** A dialog with this heading and a button that closes it; a click or a touch beside it does, too. */
export function createDialog(
  className: string,
  heading: HTMLElement,
  translate: PanelTranslate,
  ...content: readonly HTMLElement[]
): HTMLDialogElement {
  const close = element('button', { type: 'button', 'aria-label': translate('close') }, icon('x'));
  const root = element(
    'dialog',
    { class: className, 'aria-labelledby': heading.id },
    element('div', { class: 'title' }, heading, close),
    ...content,
  );
  root.addEventListener('click', ({ target }) => {
    if (target === root || close.contains(target as Node)) root.close();
  });
  return root;
}
