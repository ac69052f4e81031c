import type { Card } from '#client/board.ts';
import { findLabel, runbookOf } from '#contract/history/labels.ts';
import { ageText } from '#contract/time.ts';
import { element, setText } from '#web/dom.ts';
import { icon } from '#web/icon.ts';
import type { LevelLook } from '#web/level-look.ts';
import type { Row } from '../state/arrange.ts';
import { shapeOf, titleScale, titleScales } from '../state/card-text.ts';
import type { PanelTranslate } from '../texts/en.ts';
import { createFollowersButton, createFollowersList } from './followers-view.ts';

export interface CardContext {
  readonly translate: PanelTranslate;
  readonly lookOf: (level: string) => LevelLook;
  /** Names of the labels that cards show. */
  readonly labels: readonly string[];
  readonly serverTime: () => number;
  /** A time in the words of the screen. */
  readonly momentText: (at: number) => string;
  /** null: it is shown until cleared. */
  readonly remainingMs: (card: Card) => number | null;
  readonly clear: (card: Card) => void;
  readonly acknowledge: (card: Card) => void;
  /** Opens the details of a card; undefined: the card is in them. */
  readonly openDetails?: (card: Card) => void;
}

/** One notification on the screen. What the sender wrote is set as text, never as markup, and stays inside the card. */
export interface CardView {
  readonly root: HTMLElement;
  update(card: Card): void;
  /** Updates its age and the bar of its remaining time. */
  tick(): void;
  /** Sets the size of its text; undefined where the page scrolls and a card is as high as its text. */
  size(row: Row | undefined, unitPx: number): void;
  /**
   * Measures how many lines of title and message fit, after `size`; the function it returns applies that. All cards are measured
   * before any is changed, so that the browser computes the layout once.
   */
  measure(): () => void;
}

/** Heights of a line of the message, in design pixels; as in board.css. */
const lineHeight = { critical: 40, major: 31, minor: 30 };
const bodyGap = 6;
const minTitleLines = 2;
/** Less than the space between two lines of the message, more than a title's descenders. */
const leeway = 4;

export function createCardView(first: Card, context: CardContext): CardView {
  const { translate, lookOf, serverTime } = context;
  let card = first;
  let available: { readonly unitPx: number; readonly zoom: number } | undefined;
  const { notification } = first;
  const shape = shapeOf(first);
  const look = lookOf(notification.level);
  const count = element('span', { class: 'count' });
  const escalated = element('span', {
    class: 'escalated',
    text: escalatedText(notification.escalated, translate),
  });
  const age = element('span', { class: 'age' });
  const stays = shape === 'critical' && first.endsAt === null;
  const until = element('span', {
    class: 'until',
    text: stays ? ` · ${translate('staysUntilCleared')}` : '',
  });
  const heading = element('h2', {
    text: notification.title,
    dir: 'auto',
    id: `title-${notification.id}`,
  });
  const message = element('p', { text: notification.message, dir: 'auto' });
  const body = element('div', { class: 'body' }, heading, message);
  const seen = element('p', { class: 'seen', dir: 'auto' });
  const title = notification.title.slice(0, 80);
  const acknowledge = actionButton('eye', translate('acknowledge'), translate('acknowledgeThis', { title }));
  acknowledge.addEventListener('click', () => context.acknowledge(card));
  const clear = actionButton('check', translate('clear'), translate('clearThis', { title }));
  clear.addEventListener('click', () => context.clear(card));
  const { openDetails } = context;
  const todo = hasInstructions(first) && openDetails ? instructionsButton(title, translate) : undefined;
  const followers = openDetails
    ? createFollowersButton(context, () => openDetails(card))
    : createFollowersList(context);
  const root = element(
    'article',
    { class: `card ${shape}`, 'aria-labelledby': heading.id, 'data-id': notification.id },
    element(
      'div',
      { class: 'level' },
      icon(look.icon),
      element('span', { class: 'word', text: look.word }),
      ...(todo ? [todo] : []),
      escalated,
      count,
      age,
      until,
    ),
    body,
    ...(openDetails ? [followers.root] : whatToDo(first, translate)),
    ...originOf(first, context),
    seen,
    element('div', { class: 'actions' }, acknowledge, clear),
    // A long list comes after the buttons.
    ...(openDetails ? [] : [followers.root]),
  );
  if (todo && openDetails) {
    root.classList.add('opens');
    // Anywhere on the card, except on what does something else.
    root.addEventListener('click', ({ target }) => {
      const other = (target as Element).closest('a, button');
      if (other === null || other === todo) openDetails(card);
    });
  }
  root.style.setProperty('--c', shape === 'critical' ? '#fff' : look.color);
  root.style.setProperty('--fill', look.fill);
  const bar = first.endsAt === null ? undefined : ttlBar(context);
  if (bar) root.append(bar.root);

  const tick = () => {
    setText(age, ageText(serverTime() - card.since));
    bar?.tick(card);
  };
  const update = (next: Card) => {
    card = next;
    setText(count, next.count > 0 ? `×${next.count + 1}` : '');
    count.title = next.count > 0 ? translate('counted', { n: next.count + 1 }) : '';
    followers.update(next);
    const { acknowledged } = next.notification;
    setText(seen, acknowledged ? seenText(acknowledged, context) : '');
    seen.classList.toggle('timed', acknowledged !== null && acknowledged.until !== null);
    acknowledge.hidden = acknowledged !== null;
    root.classList.toggle('done', acknowledged !== null);
    tick();
  };
  update(first);
  return {
    root,
    update,
    tick,
    size(row, unitPx) {
      available = row && { unitPx, zoom: row.zoom };
      root.style.setProperty('--z', String(row?.zoom ?? 1));
      root.style.setProperty('--t', String(titleScale(notification.title)));
      for (const text of [heading, message]) {
        if (row) text.style.setProperty('-webkit-line-clamp', 'none');
        else text.style.removeProperty('-webkit-line-clamp');
      }
      message.hidden = false;
    },
    measure() {
      if (!available) return () => undefined;
      const scale = available.unitPx * available.zoom;
      const fitNow = () =>
        fitText(body, heading, { line: lineHeight[shape] * scale, gap: (bodyGap - leeway) * scale });
      let fitting = fitNow();
      return () => {
        // Rather smaller than cut: only such a card is laid out again.
        for (const smaller of titleScales.filter((each) => each < titleScale(notification.title))) {
          if (!fitting.isCut) break;
          root.style.setProperty('--t', String(smaller));
          fitting = fitNow();
        }
        heading.style.setProperty('-webkit-line-clamp', String(fitting.titleLines));
        message.hidden = fitting.messageLines < 1;
        message.style.setProperty('-webkit-line-clamp', String(Math.max(1, fitting.messageLines)));
      };
    },
  };
}

/** How many lines of title and message fit into the body; the title comes first, but leaves a line to the message. */
function fitText(
  body: HTMLElement,
  heading: HTMLElement,
  message: { readonly line: number; readonly gap: number },
) {
  const titleLine = Number.parseFloat(getComputedStyle(heading).lineHeight);
  const room = body.clientHeight - message.gap;
  const wanted = Math.round(heading.offsetHeight / titleLine);
  const besideMessage = Math.floor((room - message.line) / titleLine);
  const alone = Math.floor((body.clientHeight + leeway) / titleLine);
  const titleLines = Math.max(1, Math.min(wanted, Math.max(besideMessage, Math.min(minTitleLines, alone))));
  const titleHeight = Math.min(heading.offsetHeight, titleLines * titleLine);
  return {
    titleLines,
    messageLines: Math.floor((room - titleHeight) / message.line),
    isCut: wanted > titleLines,
  };
}

function linkTo(href: string, text: string): HTMLElement {
  const attributes = { href, target: '_blank', rel: 'noopener noreferrer' };
  return element('a', attributes, icon('arrow-up-right'), element('span', { text }));
}

export const hasInstructions = ({ notification }: Card): boolean => notification.instructions !== undefined;

function instructionsButton(title: string, translate: PanelTranslate): HTMLElement {
  const attributes = {
    ...{ type: 'button', class: 'todo', title: translate('instructions') },
    ...{ 'aria-label': translate('instructionsThis', { title }), 'aria-haspopup': 'dialog' },
  };
  return element('button', attributes, icon('list-check'));
}

/** The mark of a row or a group: one of its cards has instructions. */
export const instructionsMark = (translate: PanelTranslate): HTMLElement => {
  const name = translate('instructions');
  return element('span', { class: 'todo', role: 'img', title: name, 'aria-label': name }, icon('list-check'));
};

/** The instructions as text, and the address of the runbook for people who have to type it elsewhere. */
function whatToDo(
  { notification: { instructions, labels } }: Card,
  translate: PanelTranslate,
): HTMLElement[] {
  const runbook = runbookOf(labels);
  if (instructions === undefined && runbook === undefined) return [];
  const made = element('div', { class: 'what-to-do' });
  if (instructions !== undefined)
    made.append(
      element('h3', { text: translate('instructions') }),
      element('div', { class: 'text', text: instructions, dir: 'auto' }),
    );
  if (runbook !== undefined)
    made.append(
      element('h3', { text: translate('runbook') }),
      element('div', { class: 'text mono', text: runbook }),
    );
  return [made];
}

/** Host, address, links and labels. */
function originOf(
  { notification: { host, ip, url, labels } }: Card,
  { translate, labels: names }: CardContext,
): HTMLElement[] {
  const parts: HTMLElement[] = [];
  if (host !== null) parts.push(element('span', { class: 'host mono', text: host, dir: 'auto' }));
  if (ip !== null) parts.push(element('span', { class: 'ip mono', text: ip }));
  if (url !== null && /^https?:\/\//i.test(url)) parts.push(linkTo(url, translate('open')));
  const runbook = runbookOf(labels);
  if (runbook !== undefined) parts.push(linkTo(runbook, translate('runbook')));
  for (const name of names) {
    const value = findLabel(labels, name)?.[1];
    if (value === undefined) continue;
    parts.push(
      element(
        'span',
        { class: 'label', dir: 'auto' },
        element('span', { class: 'name', text: name }),
        element('span', { text: value }),
      ),
    );
  }
  return parts.length === 0 ? [] : [element('div', { class: 'origin' }, ...parts)];
}

function escalatedText(
  escalated: Card['notification']['escalated'] | undefined,
  translate: PanelTranslate,
): string {
  if (!escalated) return '';
  const { times } = escalated;
  return times === 1 ? translate('escalated') : translate('escalatedTimes', { n: times });
}

function seenText(
  { by, note, until }: NonNullable<Card['notification']['acknowledged']>,
  { translate, momentText }: CardContext,
): string {
  const text =
    until === null
      ? translate('seenBy', { by })
      : translate('seenByUntil', { by, time: momentText(Date.parse(until)) });
  return note === null ? text : `${text}: ${note}`;
}

function actionButton(iconName: string, text: string, label: string): HTMLElement {
  const attributes = { type: 'button', 'aria-label': label };
  return element('button', attributes, icon(iconName), element('span', { text }));
}

/**
 * The remaining time. It moves with each tick, not with each frame: animated bars would make the browser paint the whole screen
 * sixty times a second.
 */
function ttlBar({ remainingMs }: CardContext) {
  const run = element('i');
  return {
    root: element('div', { class: 'ttl', 'aria-hidden': 'true' }, run),
    tick: (card: Card) => {
      const left = (remainingMs(card) ?? 0) / Math.max(1, card.notification.ttl);
      run.style.setProperty('--left', Math.min(1, Math.max(0, left)).toFixed(4));
    },
  };
}

/** Takes the views of what has ended off the screen. */
export function forget<View extends { readonly root: HTMLElement }>(
  views: Map<string, View>,
  kept: ReadonlySet<string>,
  onGone: (id: string) => void = () => undefined,
): void {
  for (const [id, view] of views) {
    if (kept.has(id)) continue;
    view.root.remove();
    views.delete(id);
    onGone(id);
  }
}
