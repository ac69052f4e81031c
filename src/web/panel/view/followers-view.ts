/** The alarms that are on no panel as long as a card's alarm stands: how many, and behind a touch which. */
import type { Card } from '#client/board.ts';
import { element, fill, setText } from '#web/dom.ts';
import { icon } from '#web/icon.ts';
import type { LevelLook } from '#web/level-look.ts';
import { followersOf } from '../state/followers.ts';
import type { PanelTranslate } from '../texts/en.ts';

/** A part of a card; hidden when nothing follows. */
export interface FollowersView {
  readonly root: HTMLElement;
  update(card: Card): void;
}

interface Context {
  readonly translate: PanelTranslate;
  readonly lookOf: (level: string) => LevelLook;
}

/** "41 followed", of all these cards; empty when nothing follows them. */
export function followedText(cards: readonly Card[], translate: PanelTranslate): string {
  const count = followersOf(cards);
  return count > 0 ? translate('followed', { count }) : '';
}

/** On the screen: the number, which opens the details of the card. */
export function createFollowersButton({ translate }: Context, onOpen: () => void): FollowersView {
  const text = element('span');
  const root = element(
    'button',
    { class: 'followed', type: 'button', 'aria-haspopup': 'dialog' },
    icon('stack-2'),
    text,
  );
  root.addEventListener('click', onOpen);
  return {
    root,
    update(card) {
      setText(text, followedText([card], translate));
      root.hidden = card.suppresses === undefined;
    },
  };
}

/** In the details: the number, and the first of them. */
export function createFollowersList({ translate, lookOf }: Context): FollowersView {
  const heading = element('h3');
  const list = element('ul');
  const more = element('p', { class: 'more' });
  const root = element('section', { class: 'followers' }, heading, list, more);
  let drawn: Card['suppresses'];
  return {
    root,
    update(card) {
      const { suppresses } = card;
      root.hidden = suppresses === undefined;
      if (suppresses === drawn || !suppresses) return;
      drawn = suppresses;
      const { alarms, count } = suppresses;
      setText(heading, followedText([card], translate));
      fill(list, ...alarms.map((alarm) => lineOf(alarm, lookOf(alarm.level))));
      const unnamed = count - alarms.length;
      setText(more, unnamed > 0 ? translate('more', { n: unnamed }) : '');
    },
  };
}

type Follower = NonNullable<Card['suppresses']>['alarms'][number];

function lineOf({ host, title }: Follower, { word, icon: name, color }: LevelLook): HTMLElement {
  const symbol = element(
    'span',
    { class: 'symbol', role: 'img', 'aria-label': word, title: word },
    icon(name),
  );
  symbol.style.setProperty('--c', color);
  const names =
    host === null ? [] : [element('b', { class: 'mono', text: host, dir: 'auto' }), new Text(' ')];
  const what = element('span', { text: title, dir: 'auto' });
  return element('li', {}, symbol, element('span', { class: 'text' }, ...names, what));
}
