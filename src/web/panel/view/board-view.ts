import type { Card } from '#client/board.ts';
import { ageText } from '#contract/time.ts';
import { element, setText } from '#web/dom.ts';
import { icon } from '#web/icon.ts';
import { type Arrangement, arrange, dwellOrder, type Place, type Row } from '../state/arrange.ts';
import { rollUp } from '../state/card-text.ts';
import { type CardContext, type CardView, createCardView } from './card-view.ts';
import type { Stage } from './stage.ts';

/** One card that counts the cards without room. */
export interface RollUpView {
  readonly root: HTMLElement;
  /** `isPartial`: there are more live notifications than those on the screen and these. */
  update(hidden: readonly Card[], isPartial: boolean): void;
  size(row: Row | undefined): void;
}

const mostLevels = 5;

function createRollUpView({ translate, lookOf, serverTime }: CardContext): RollUpView {
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

export interface BoardView {
  /** Shows the cards that fit, and returns them. `isPartial`: there are more live notifications than these cards. */
  render(
    board: { readonly cards: readonly Card[]; readonly isPartial: boolean },
    maxCards: number | undefined,
  ): readonly Card[];
  tick(): void;
}

/** Text grows again only after this time: otherwise it would jump with each card that comes and goes. */
const growAfterMs = 15_000;
/** Up to so many new cards are animated; more at once appear without motion. */
const mostArriving = 3;
/** The limit on a page that scrolls. */
const mostScrolled = 40;

/** The grid of cards. It keeps one element for each notification and changes only what differs. */
export function createBoardView(root: HTMLElement, stage: Stage, context: CardContext): BoardView {
  const views = new Map<string, CardView>();
  const shownSince = new Map<string, number>();
  const sizes = new Map<string, string>();
  const more = createRollUpView(context);
  let zoom = { is: Number.POSITIVE_INFINITY, since: 0 };

  const arrangeNow = (cards: readonly Card[], maxCards: number | undefined, now: number): Arrangement => {
    const area = stage.area();
    const most = maxCards ?? (area.scrolls ? mostScrolled : undefined);
    const options = { ...(most !== undefined && { maxCards: most }) };
    const held = now - zoom.since < growAfterMs ? { ...options, maxZoom: zoom.is } : options;
    const arranged = arrange(cards, area, held);
    return arranged.hidden.length === 0 ? arranged : arrange(dwellOrder(cards, shownSince, now), area, held);
  };

  const place = (element: HTMLElement, { row, column, span }: Place) => {
    const area = `${row + 1} / ${column} / auto / span ${span}`;
    if (element.style.gridArea !== area) element.style.gridArea = area;
  };

  return {
    render({ cards, isPartial }, maxCards) {
      const now = performance.now();
      const { scrolls, unitPx, width } = stage.area();
      const arrangement = arrangeNow(cards, maxCards, now);
      if (arrangement.zoom !== zoom.is) zoom = { is: arrangement.zoom, since: now };
      root.style.gridTemplateRows = scrolls
        ? 'none'
        : arrangement.rows.map(({ height }) => `${height * unitPx}px`).join(' ');
      const shown: Card[] = [];
      const order: HTMLElement[] = [];
      const resized: CardView[] = [];
      const arrived: CardView[] = [];
      for (const each of arrangement.places) {
        const row = scrolls ? undefined : arrangement.rows[each.row];
        if (!each.card) {
          more.update(arrangement.hidden, isPartial);
          more.size(row);
          place(more.root, each);
          order.push(more.root);
          continue;
        }
        const { id } = each.card.notification;
        const view = views.get(id) ?? createCardView(each.card, context);
        if (views.has(id)) view.update(each.card);
        else {
          shownSince.set(id, now);
          arrived.push(view);
        }
        views.set(id, view);
        const { acknowledged } = each.card.notification;
        const size = `${row?.height} ${row?.zoom} ${each.span} ${unitPx} ${width} ${acknowledged !== null}`;
        if (sizes.get(id) !== size) {
          sizes.set(id, size);
          view.size(row, unitPx);
          resized.push(view);
        }
        place(view.root, each);
        order.push(view.root);
        shown.push(each.card);
      }
      if (arrived.length <= mostArriving)
        for (const { root: card } of arrived) card.classList.add('arriving');
      forget(views, shown, (id) => {
        shownSince.delete(id);
        sizes.delete(id);
      });
      reorder(root, order);
      for (const setLines of resized.map((view) => view.measure())) setLines();
      return shown;
    },
    tick() {
      for (const view of views.values()) view.tick();
    },
  };
}

function forget(views: Map<string, CardView>, shown: readonly Card[], onGone: (id: string) => void): void {
  const kept = new Set(shown.map(({ notification }) => notification.id));
  for (const [id, view] of views) {
    if (kept.has(id)) continue;
    view.root.remove();
    views.delete(id);
    onGone(id);
  }
}

/** Puts the elements in reading order and moves only those in the wrong place. */
function reorder(root: HTMLElement, order: readonly HTMLElement[]): void {
  const wanted = new Set<Element>(order);
  for (const child of [...root.children]) if (!wanted.has(child)) child.remove();
  order.forEach((element, at) => {
    const there = root.children[at];
    if (there !== element) root.insertBefore(element, there ?? null);
  });
}
