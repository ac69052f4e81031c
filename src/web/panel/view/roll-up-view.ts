import type { Card } from '#client/board.ts';
import { ageText } from '#contract/duration.ts';
import { element, setText } from '#web/dom.ts';
import { icon } from '#web/icon.ts';
import type { Row } from '../state/arrange.ts';
import { rollUp } from '../state/roll-up.ts';
import type { CardContext } from './card-view.ts';

/** One card that counts the cards without room. */
export interface RollUpView {
  readonly root: HTMLElement;
  /** `isPartial`: there are more live notifications than those on the screen and these. */
  update(hidden: readonly Card[], isPartial: boolean): void;
  size(row: Row | undefined): void;
}

const mostLevels = 5;

export function createRollUpView({ translate, lookOf, serverTime }: CardContext): RollUpView {
  const heading = element('h2');
  const levels = element('div', { class: 'levels' });
  const last = element('p');
  const root = element('article', { class: 'card roll-up' }, heading, levels, last);
  return {
    root,
    update(hidden, isPartial) {
      const { count, hosts, levels: each, newestAt, rank } = rollUp(hidden);
      const from =
        hosts === undefined ? translate('more', { count }) : translate('moreFrom', { count, host: hosts });
      setText(heading, isPartial ? translate('moreAtLeast', { n: count }) : from);
      setText(last, translate('lastOne', { age: ageText(serverTime() - newestAt) }));
      root.classList.toggle('urgent', rank >= 50);
      levels.replaceChildren(
        ...each.slice(0, mostLevels).map((one) => {
          const look = lookOf(one.level);
          const label = element('span', { text: `${one.count} ${look.word}` });
          const chip = element('span', { class: 'chip' }, icon(look.icon), label);
          chip.style.setProperty('--c', look.color);
          return chip;
        }),
      );
    },
    size: (row) => root.style.setProperty('--z', String(Math.min(1.3, row?.zoom ?? 1))),
  };
}
