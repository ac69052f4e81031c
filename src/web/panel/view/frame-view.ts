import type { Card } from '#client/board.ts';
import { element, fill, setText, svgElement } from '#web/dom.ts';
import { icon } from '#web/icon.ts';
import type { LevelLook } from '#web/level-look.ts';
import type { Clock } from '../state/clock.ts';
import { followersOf } from '../state/followers.ts';
import type { PanelTranslate } from '../texts/en.ts';
import { followedText } from './followers-view.ts';

export interface FrameState {
  readonly name: string;
  readonly tenantTitle: string | undefined;
  readonly cards: readonly Card[];
  readonly serverTime: number;
  readonly clock: Clock;
  /** The state of the connection, in words. */
  readonly line: string;
  readonly health: 'online' | 'waiting' | 'stale';
  /** The text of the banner while the cards may be out of date. */
  readonly stale: { readonly head: string; readonly detail: string } | undefined;
}

/** Around the cards: name, counts and clock above, with a banner when cards may be out of date; connection and date below. */
export interface FrameView {
  readonly header: HTMLElement;
  readonly footer: HTMLElement;
  update(state: FrameState): void;
}

export function createFrameView(translate: PanelTranslate, lookOf: (level: string) => LevelLook): FrameView {
  const name = element('h1');
  const counts = element('ul', { class: 'counts' });
  const brand = element('span', { class: 'brand' });
  const clock = element('time', { class: 'clock' });
  const line = element('span', { class: 'line' });
  const date = element('span', { class: 'date' });
  const head = element('strong');
  const detail = element('span');
  const banner = element(
    'div',
    { class: 'banner', role: 'alert' },
    icon('plug-connected-x'),
    element('div', {}, head, detail),
  );
  const header = element('header', {}, element('span', { class: 'dot' }), name, counts, clock, banner);
  let counted = '';

  const count = (cards: readonly Card[]) => {
    const levels = countLevels(cards);
    const followed = followersOf(cards);
    const now = JSON.stringify([levels, followed]);
    if (now === counted) return;
    counted = now;
    const item = (n: number, label: string, { icon: name, color }: Pick<LevelLook, 'icon' | 'color'>) => {
      const text = element('span', { text: String(n), 'aria-label': label, role: 'img' });
      const made = element('li', { title: label }, icon(name), text);
      made.style.setProperty('--c', color);
      return made;
    };
    const items = levels.map(([level, n]) => {
      const look = lookOf(level);
      return item(n, translate('showing', { n, level: look.word }), look);
    });
    if (followed > 0)
      items.push(item(followed, followedText(cards, translate), { icon: 'stack-2', color: 'var(--muted)' }));
    fill(counts, ...items);
  };

  return {
    header,
    footer: element('footer', {}, brand, line, date),
    update(state) {
      setText(name, state.name);
      setText(brand, state.tenantTitle || 'Belfry');
      count(state.cards);
      setText(clock, state.clock.time(state.serverTime));
      setText(line, state.line);
      setText(date, `${state.clock.date(state.serverTime)} · ${state.clock.timeZone}`);
      header.dataset.health = state.health;
      banner.hidden = !state.stale;
      if (state.stale) {
        setText(head, state.stale.head);
        setText(detail, state.stale.detail);
      }
    },
  };
}

const mostCounted = 6;

/** The highest in rank first. */
function countLevels(cards: readonly Card[]): (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const { notification } of cards)
    counts.set(notification.level, (counts.get(notification.level) ?? 0) + 1);
  return [...counts].slice(0, mostCounted);
}

export interface Notice {
  readonly head: string;
  readonly detail: string;
  readonly kind: 'quiet' | 'connecting' | 'problem';
}

/** Shown in place of cards: all quiet, connecting, or what is wrong. */
export interface NoticeView {
  readonly root: HTMLElement;
  show(notice: Notice | undefined): void;
}

export function createNoticeView(): NoticeView {
  const head = element('h2');
  const detail = element('p');
  const root = element('section', { class: 'notice' }, bell(), head, detail);
  return {
    root,
    show(notice) {
      root.hidden = !notice;
      if (!notice) return;
      root.dataset.kind = notice.kind;
      setText(head, notice.head);
      setText(detail, notice.detail);
    },
  };
}

/** The mark of Belfry: a bell in its arch. */
export function bell(): SVGSVGElement {
  return svgElement(
    'svg',
    { class: 'mark', viewBox: '0 0 64 64', fill: 'none', stroke: 'currentColor', 'aria-hidden': 'true' },
    svgElement('path', { class: 'arch', d: 'M8 60V30a24 24 0 0 1 48 0v30' }),
    svgElement('path', {
      class: 'bell',
      d: 'M32 18v4m-12 24c3-3 4-7 4-13a8 8 0 0 1 16 0c0 6 1 10 4 13zm8 0a4 4 0 0 0 8 0',
    }),
  );
}
