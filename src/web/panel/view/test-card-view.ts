import type { Level } from '#contract/level.ts';
import { element } from '#web/dom.ts';
import { icon } from '#web/icon.ts';
import type { LevelLook } from '#web/level-look.ts';
import type { PanelTranslate } from '../texts/panel-texts.ts';

/** A picture of all that a screen draws with, to be looked at from where it is read. */
export interface TestCard {
  readonly root: HTMLElement;
  readonly clock: HTMLElement;
}

export interface TestCardFacts {
  readonly name: string;
  readonly levels: readonly Level[];
  readonly scale: number;
  readonly version: string;
  readonly time: string;
  /** What became of the sound. */
  readonly sound: 'played' | 'locked' | 'off';
  readonly lookOf: (level: string) => LevelLook;
  readonly translate: PanelTranslate;
}

/** More have no room; those are the highest in rank. */
const mostLevels = 12;
/** From here on a card is filled with its colour, as on the board. */
const filledRank = 50;
const corners = ['top left', 'top right', 'bottom left', 'bottom right'];
const soundTexts = { played: 'testSoundPlayed', locked: 'soundLocked', off: 'soundOff' } as const;

export function createTestCard(facts: TestCardFacts): TestCard {
  const { name, levels, scale, version, time, sound, lookOf, translate } = facts;
  const clock = element('time', { class: 'clock', text: time });
  const shown = [...levels].sort((a, b) => b.rank - a.rank).slice(0, mostLevels);
  const size = {
    width: String(innerWidth),
    height: String(innerHeight),
    ratio: String(Math.round(devicePixelRatio * 100) / 100),
    scale: String(Math.round(scale * 100)),
  };
  const root = element(
    'div',
    { class: 'test-card' },
    ...corners.map((corner) =>
      element('i', { class: `corner ${corner}`, attributes: { 'aria-hidden': 'true' } }),
    ),
    element(
      'div',
      { class: 'test-head' },
      element('span', { text: translate('testCard') }),
      element('h2', { text: name, attributes: { dir: 'auto' } }),
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
      element('div', { class: 'test-greys', attributes: { 'aria-hidden': 'true' } }, ...greys()),
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
    element('span', { text: word, attributes: { dir: 'auto' } }),
  );
  item.style.setProperty('--c', isFilled ? '#fff' : color);
  item.style.setProperty('--fill', fill);
  return item;
}

/** A screen that shows them apart is neither too bright nor too dark. */
function greys(): HTMLElement[] {
  return Array.from({ length: 12 }, (_, step) => {
    const field = element('i');
    field.style.setProperty('--grey', `${Math.round((step / 11) * 100)}%`);
    return field;
  });
}
