/** The cards behind a row or behind similar alarms, with their texts and buttons, over the screen. */
import type { Card } from '#client/board.ts';
import { element, fill, setText } from '#web/dom.ts';
import { headingOf } from '../state/flood-items.ts';
import { type CardContext, type CardView, createCardView, forget, hasInstructions } from './card-view.ts';
import { acknowledgedText } from './flood-view.ts';
import { createDialog } from './overlay-view.ts';
import { createSureButton } from './sure-button.ts';

export interface DetailsContext extends CardContext {
  /** Resolves when each was acknowledged or failed; says on the screen how many failed. */
  readonly acknowledgeAll: (cards: readonly Card[]) => Promise<void>;
}

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
/** A repeat that takes the place of the last card follows its clear within this time: the details stay open. */
const replacedMs = 500;
/** More are acknowledged only after the question whether one is sure. */
const mostAtOnce = 10;
/** The screen shows its cards again when nobody is at it any more. */
const closesAfterMs = 120_000;
const passive = { passive: true };

export function createDetailsView(context: DetailsContext): DetailsView {
  const { translate } = context;
  const heading = element('h2', { dir: 'auto', id: 'details-title' });
  const list = element('div', { class: 'list' });
  const more = element('p', { class: 'more' });
  let unacknowledged: readonly Card[] = [];
  const n = () => ({ n: unacknowledged.length });
  const all = createSureButton({
    className: '',
    text: () => translate('acknowledgeAll', n()),
    sureText: () => translate('acknowledgeAllSure', n()),
    asks: () => unacknowledged.length > mostAtOnce,
    async onPress() {
      all.root.disabled = true;
      await context.acknowledgeAll(unacknowledged);
      all.root.disabled = false;
    },
  });
  const forAll = element('div', { class: 'options all' }, all.root);
  const root = createDialog('settings details', heading, translate, forAll, list, more);
  const views = new Map<string, CardView>();
  let openId: string | undefined;
  let closing: ReturnType<typeof setTimeout> | undefined;
  let touchedAt = 0;
  const touched = () => {
    touchedAt = performance.now();
  };
  for (const type of ['pointerdown', 'keydown', 'wheel', 'scroll'])
    root.addEventListener(type, touched, passive);
  root.addEventListener('close', () => {
    clearTimeout(closing);
    closing = undefined;
    openId = undefined;
    all.reset();
    views.clear();
    fill(list);
  });

  const update = (cards: readonly Card[]) => {
    if (openId === undefined) return;
    const [first, ...rest] = cards;
    if (!first) {
      closing ??= setTimeout(() => root.close(), replacedMs);
      return;
    }
    clearTimeout(closing);
    closing = undefined;
    unacknowledged = cards.filter(({ notification }) => notification.acknowledged === null);
    setText(
      heading,
      rest.length > 0
        ? [
            headingOf({ cards: [first, ...rest] }, (level) => context.lookOf(level).word),
            translate('alarms', { n: cards.length }),
            acknowledgedText(cards, translate),
          ]
            .filter((text) => text !== '')
            .join(' · ')
        : first.notification.title,
    );
    // A single one has a button of its own.
    forAll.hidden = unacknowledged.length < 2;
    all.update();
    const listed = cards.slice(0, mostCards);
    root.classList.toggle('instructed', listed.some(hasInstructions));
    const ids = new Set(listed.map(({ notification }) => notification.id));
    forget(views, ids);
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
    setText(more, cards.length > mostCards ? translate('more', { n: cards.length - mostCards }) : '');
  };
  return {
    root,
    get openId() {
      return openId;
    },
    open(id, cards) {
      openId = id;
      touched();
      update(cards);
      if (openId !== undefined && !root.open) root.showModal();
    },
    update,
    tick() {
      if (openId !== undefined && performance.now() - touchedAt > closesAfterMs) root.close();
      for (const view of views.values()) view.tick();
    },
  };
}
