/** What stands on the screen in a flood: cards for several similar alarms, rows of one line, and a line that counts the rest. */
import type { Card } from '#client/board.ts';
import { ageText } from '#contract/time.ts';
import { element, fill, setText } from '#web/dom.ts';
import { icon } from '#web/icon.ts';
import type { LevelLook } from '#web/level-look.ts';
import type { Row } from '../state/arrange.ts';
import { type FloodItem, headingOf, isDone, isUrgent, titlesOf } from '../state/flood-items.ts';
import type { PanelTranslate } from '../texts/en.ts';
import { type CardContext, hasInstructions, instructionsMark } from './card-view.ts';
import { followedText } from './followers-view.ts';

/** More hosts or titles than that fit on no card. */
const mostListed = 60;
const mostInRow = 12;

/** One item of a flood on the screen. */
export interface ItemView {
  readonly root: HTMLElement;
  update(item: FloodItem): void;
  /** Updates its ages. */
  tick(): void;
}

type Context = Pick<CardContext, 'translate' | 'lookOf' | 'serverTime'>;

/** The hosts of similar alarms, each once, in the order of the cards. */
const hostsOf = (cards: readonly Card[]): string[] => [
  ...new Set(cards.flatMap(({ notification: { host, ip } }) => host ?? ip ?? [])),
];

/** "50 hosts", or how often it came when it names none. */
function sizeText(cards: readonly Card[], hosts: readonly string[], { translate }: Context): string {
  return hosts.length > 1
    ? translate('hosts', { n: hosts.length })
    : translate('alarms', { n: cards.length });
}

/** "9 acknowledged"; empty when none is. */
export function acknowledgedText(cards: readonly Card[], translate: PanelTranslate): string {
  const n = cards.filter(({ notification }) => notification.acknowledged !== null).length;
  return n > 0 ? translate('someAcknowledged', { n }) : '';
}

/** A text that goes to the next line as a whole, also if it is too long for the first. */
const unbroken = (text: string): string =>
  `\u200b${text.replace(/ /g, '\u00a0').replace(/[-/]/g, '$&\u2060')}`;

/** The ages of the oldest and of the newest of its cards. */
function agesOf({ cards }: FloodItem, now: number): { readonly first: string; readonly last: string } {
  const times = cards.map(({ since }) => since);
  return { first: ageText(now - Math.min(...times)), last: ageText(now - Math.max(...times)) };
}

/** Replaces the icon only if it is another one. */
function setIcon(root: HTMLElement, name: LevelLook['icon']): void {
  if (root.dataset.icon === name) return;
  root.dataset.icon = name;
  fill(root, icon(name));
}

/** The classes and colours of an item's level, and whether somebody takes care of all of it. */
function dress(root: HTMLElement, kind: string, item: FloodItem, { lookOf }: Context): LevelLook {
  const look = lookOf(item.level);
  const isCritical = isUrgent(item);
  const name = `${kind}${isCritical ? ' critical' : ''}${isDone(item) ? ' done' : ''}`;
  if (root.className !== name) root.className = name;
  root.dataset.id = item.cards[0].notification.id;
  const isFilled = isCritical && kind.startsWith('card');
  root.style.setProperty('--c', isFilled ? '#fff' : look.color);
  root.style.setProperty('--fill', look.fill);
  return look;
}

export interface GroupView extends ItemView {
  /**
   * Sets the size of its text, undefined as for a card; true: it must be measured, because its size or what stands on it has
   * changed. `screen` changes with the size of the screen.
   */
  size(row: Row | undefined, screen: string): boolean;
  /** As the one of a card, for the lines of hosts. */
  measure(): () => void;
}

/** A card for similar alarms: what they are, how many, and the hosts for which there is room; their titles, if they differ. */
export function createGroupView(first: FloodItem, context: Context, onOpen: (id: string) => void): GroupView {
  const { translate, lookOf, serverTime } = context;
  let item = first;
  let sized = '';
  const symbol = element('span', { class: 'symbol' });
  const word = element('span', { class: 'word' });
  const age = element('span', { class: 'age' });
  const heading = element('span', { class: 'common', dir: 'auto' });
  const size = element('em');
  const hosts = element('p', { class: 'hosts mono' });
  const rest = element('p', { class: 'rest' });
  const todo = instructionsMark(translate);
  const root = element(
    'button',
    { type: 'button' },
    element('span', { class: 'level' }, symbol, word, todo, age),
    element('span', { class: 'heading' }, heading, size),
    hosts,
    rest,
  );
  root.addEventListener('click', () => onOpen(item.id));

  const tick = () => {
    setText(age, translate('firstAndLast', agesOf(item, serverTime())));
  };
  const update = (next: FloodItem) => {
    item = next;
    const { cards } = next;
    const look = dress(root, 'card group', next, context);
    setIcon(symbol, look.icon);
    setText(word, look.word);
    todo.hidden = !cards.some(hasInstructions);
    setText(
      heading,
      headingOf(next, (level) => lookOf(level).word),
    );
    const names = hostsOf(cards);
    const followed = followedText(cards, translate);
    setText(size, `${sizeText(cards, names, context)}${followed && ` · ${followed}`}`);
    const titles = titlesOf(next);
    const hasTitles = titles.length > 1;
    const listed = (hasTitles ? titles : names).slice(0, mostListed);
    const between = hasTitles ? ' · ' : ' ';
    if (listed.join(between) !== hosts.textContent)
      fill(
        hosts,
        ...listed.flatMap((text, i) => [
          ...(i > 0 ? [new Text(between)] : []),
          element('span', { text, dir: 'auto' }),
        ]),
      );
    hosts.classList.toggle('mono', !hasTitles);
    hosts.hidden = listed.length === 0;
    setText(rest, acknowledgedText(cards, translate));
    rest.hidden = rest.textContent === '';
    tick();
  };
  update(first);
  return {
    root,
    update,
    tick,
    size(row, screen) {
      const texts = [heading.textContent, size.textContent, rest.hidden];
      // What is critical, and not acknowledged, has larger text.
      const key = [row?.height, row?.zoom, screen, root.className, texts].join(' ');
      if (key === sized) return false;
      sized = key;
      root.style.setProperty('--z', String(row?.zoom ?? 1));
      if (!row) hosts.style.removeProperty('-webkit-line-clamp');
      return row !== undefined;
    },
    measure() {
      const { lineHeight } = getComputedStyle(hosts);
      const { paddingBottom, rowGap } = getComputedStyle(root);
      const below = rest.hidden ? 0 : rest.offsetHeight + Number.parseFloat(rowGap);
      const room = root.clientHeight - hosts.offsetTop - below - Number.parseFloat(paddingBottom);
      const lines = Math.max(1, Math.floor(room / Number.parseFloat(lineHeight) + 0.1));
      return () => hosts.style.setProperty('-webkit-line-clamp', String(lines));
    },
  };
}

/**
 * A row of one line: level, host, title, how many alarms it suppresses, and age; for similar alarms the number of hosts in the place
 * of the host.
 */
export function createRowView(first: FloodItem, context: Context, onOpen: (id: string) => void): ItemView {
  const { translate, lookOf, serverTime } = context;
  let item = first;
  const symbol = element('span', { class: 'symbol', role: 'img' });
  const host = element('b', { class: 'mono', dir: 'auto' });
  const title = element('span', { class: 'what', dir: 'auto' });
  const end = element('span', { class: 'end', dir: 'auto' });
  const todo = instructionsMark(translate);
  const followed = element('span', { class: 'followed' });
  const more = element('span', { class: 'facts', dir: 'auto' });
  const root = element('button', { type: 'button' }, symbol, host, title, todo, followed, more, end);
  root.addEventListener('click', () => onOpen(item.id));
  let names: readonly string[] = [];

  const tick = () => {
    const { cards } = item;
    const people = cards.flatMap(({ notification }) => notification.acknowledged?.by ?? []);
    const { first, last } = agesOf(item, serverTime());
    setText(end, isDone(item) ? [...new Set(people)].join(', ') : first);
    const isGroup = cards.length > 1;
    const facts = isGroup
      ? [acknowledgedText(cards, translate), last === first ? '' : translate('last', { last })]
      : [cards[0].notification.acknowledged?.note ?? ''];
    const text = facts.filter((fact) => fact !== '').join(' · ');
    const listed = names.map((name, i) => (i === 0 && text !== '' ? `· ${name}` : name));
    setText(more, isGroup ? [text, ...listed].filter(Boolean).map(unbroken).join(' ') : text);
    more.hidden = more.textContent === '';
  };
  const update = (next: FloodItem) => {
    item = next;
    const { cards } = next;
    const [{ notification }] = cards;
    const follows = followedText(cards, translate);
    const look = dress(root, follows ? 'row cause' : 'row', next, context);
    setIcon(symbol, look.icon);
    symbol.title = look.word;
    todo.hidden = !cards.some(hasInstructions);
    symbol.setAttribute('aria-label', look.word);
    const hosts = hostsOf(cards);
    names = hosts.slice(0, mostInRow);
    const count = cards.length > 1 ? sizeText(cards, hosts, context) : undefined;
    setText(host, count ?? notification.host ?? notification.ip ?? '');
    setText(title, cards.length > 1 ? headingOf(next, (level) => lookOf(level).word) : notification.title);
    setText(followed, follows);
    tick();
  };
  update(first);
  return { root, update, tick };
}

/** The last line: how many items have no room, by level. */
export function createRestView({ translate, lookOf }: Context) {
  const text = element('span');
  const levels = element('span', { class: 'levels' });
  const root = element('div', { class: 'row rest' }, text, levels);
  return {
    root,
    /** `isPartial`: there are more live notifications than those on the screen and these. */
    update(hidden: readonly FloodItem[], isPartial: boolean) {
      const count = hidden.length;
      const atLeast = count > 0 ? translate('moreAtLeast', { n: count }) : translate('moreLiveDetail');
      setText(text, isPartial ? atLeast : translate('more', { n: count }));
      const counts = new Map<string, number>();
      for (const { level } of hidden) counts.set(level, (counts.get(level) ?? 0) + 1);
      const drawn = [...counts].join(' ');
      if (levels.dataset.counts === drawn) return;
      levels.dataset.counts = drawn;
      fill(
        levels,
        ...[...counts].slice(0, 5).map(([level, n]) => {
          const look = lookOf(level);
          const chip = element(
            'span',
            { class: 'chip' },
            icon(look.icon),
            element('span', { text: `${n} ${look.word}` }),
          );
          chip.style.setProperty('--c', look.color);
          return chip;
        }),
      );
    },
  };
}
