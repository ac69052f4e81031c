/** The cards behind a row or behind similar alarms, with their texts and buttons, over the screen. */
import type { Card } from '#client/board.ts';
import { commonTitle } from '#contract/history/similar.ts';
import { element, fill, setText } from '#web/dom.ts';
import { icon } from '#web/icon.ts';
import { type CardContext, type CardView, createCardView } from './card-view.ts';

export interface DetailsView {
  readonly root: HTMLDialogElement;
  /** The item that is open. */
  readonly openId: string | undefined;
  open(id: string, cards: readonly Card[]): void;
  /** What is left of the item's cards; closes when there is none. */
  update(cards: readonly Card[]): void;
  tick(): void;
}

/** The most cards in it: more cannot be read one by one, and would take the browser long to lay out. */
const mostCards = 50;

export function createDetailsView(context: CardContext): DetailsView {
  const { translate } = context;
  const heading = element('h2', { dir: 'auto' });
  const close = element('button', { type: 'button', 'aria-label': translate('close') }, icon('x'));
  const list = element('div', { class: 'list' });
  const more = element('p', { class: 'more' });
  const root = element(
    'dialog',
    { class: 'settings details' },
    element('div', { class: 'title' }, heading, close),
    list,
    more,
  );
  close.addEventListener('click', () => root.close());
  root.addEventListener('click', (event) => event.target === root && root.close());
  const views = new Map<string, CardView>();
  let openId: string | undefined;
  root.addEventListener('close', () => {
    openId = undefined;
    views.clear();
    fill(list);
  });

  const update = (cards: readonly Card[]) => {
    if (openId === undefined) return;
    if (cards.length === 0) {
      root.close();
      return;
    }
    const listed = cards.slice(0, mostCards);
    const ids = new Set(listed.map(({ notification }) => notification.id));
    for (const [id, view] of views) {
      if (ids.has(id)) continue;
      view.root.remove();
      views.delete(id);
    }
    for (const card of listed) {
      const { id } = card.notification;
      const known = views.get(id);
      if (known) {
        known.update(card);
        continue;
      }
      const view = createCardView(card, context);
      view.size(undefined, 1);
      views.set(id, view);
      list.append(view.root);
    }
    setText(more, cards.length > mostCards ? translate('more', { count: cards.length - mostCards }) : '');
  };
  return {
    root,
    get openId() {
      return openId;
    },
    open(id, cards) {
      openId = id;
      setText(
        heading,
        cards.length > 1 && cards[0]
          ? `${commonTitle(cards[0].notification)} · ${translate('similar', { n: cards.length })}`
          : (cards[0]?.notification.title ?? ''),
      );
      update(cards);
      if (openId !== undefined && !root.open) root.showModal();
    },
    update,
    tick() {
      for (const view of views.values()) view.tick();
    },
  };
}
