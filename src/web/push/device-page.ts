/** The page of a device: the channels it is set up for, or how to set it up. */
import { element } from '#web/dom.ts';
import type { Obstacle } from './subscribing.ts';
import type { PushTranslate } from './texts/en.ts';

/** The result of an action, or a problem. */
export interface Notice {
  readonly text: string;
  readonly isProblem: boolean;
}

export interface DeviceView {
  readonly channel: string;
  readonly tenant: string;
  readonly lastDeliveredAt: string | null;
  /** The last message did not reach it. */
  readonly isFailing: boolean;
  test(): Promise<Notice | undefined>;
  turnOff(): Promise<void>;
}

export interface Offer {
  readonly channel: string;
  readonly tenant: string;
  readonly name: string;
  turnOn(name: string): Promise<void>;
}

export interface PageState {
  readonly obstacle: Obstacle | undefined;
  readonly devices: readonly DeviceView[];
  /** The channels or the link could not be read completely: `devices` may be incomplete. */
  readonly isIncomplete: boolean;
  readonly offer: Offer | undefined;
  readonly notice: Notice | undefined;
}

interface PageOptions {
  readonly t: PushTranslate;
  readonly reasonOf: (error: unknown) => string;
  /** Follows a link that was entered. @throws Error when it is none, or cannot be used. */
  readonly enterLink: (text: string) => Promise<void>;
  readonly tryAgain: () => Promise<void>;
}

export interface DevicePage {
  readonly main: HTMLElement;
  /** Replaces "Loading…" by the first state. With each later state the focus moves to the heading. */
  show(state: PageState): void;
}

/** The heading and the status stay, so that the focus has a place and screen readers hear each notice. */
export function createPage(options: PageOptions): DevicePage {
  const { t, reasonOf } = options;
  const status = element('p', { class: 'status', role: 'status' });
  const cards = element('div', { class: 'cards' }, element('p', { class: 'muted', text: t('loading') }));
  const report: Report = (notice) => {
    status.textContent = notice?.text ?? '';
    // An obstacle is not said twice.
    for (const card of cards.querySelectorAll<HTMLElement>('.obstacle'))
      card.hidden = card.textContent === status.textContent;
    status.classList.toggle('problem', notice?.isProblem ?? false);
  };
  /** A button that is busy while it works, and shows errors. */
  const button: MakeButton = (text, className, work) => {
    const made = element('button', { text, class: className, type: 'button' });
    made.addEventListener('click', () => {
      if (made.ariaDisabled === 'true') return;
      report(undefined);
      void busy(made, work, (error) => report({ text: reasonOf(error), isProblem: true }));
    });
    return made;
  };
  const heading = element('h1', { text: t('title'), tabindex: '-1' });
  const brand = element('p', { class: 'brand', text: 'Belfry' });
  let isShown = false;
  return {
    main: element('main', { class: 'push' }, brand, heading, status, cards),
    show(state) {
      cards.replaceChildren(...cardsOf(state, { ...options, button, report }));
      if (isShown) heading.focus();
      isShown = true;
      report(state.notice);
    },
  };
}

interface Parts extends PageOptions {
  readonly button: MakeButton;
  readonly report: Report;
}

function cardsOf({ obstacle, offer, devices, isIncomplete }: PageState, parts: Parts): HTMLElement[] {
  const { t, button, tryAgain } = parts;
  const cards = devices.map((device) => deviceCard(device, parts));
  if (obstacle) cards.push(element('p', { class: 'card obstacle', text: t(`obstacle.${obstacle}`) }));
  // Without permission it may be tried again: the browser says so itself.
  if (offer && (obstacle === undefined || obstacle === 'denied')) cards.push(offerCard(offer, parts));
  if (isIncomplete) cards.push(element('div', { class: 'actions' }, button(t('tryAgain'), '', tryAgain)));
  else if (!offer && obstacle === undefined) cards.push(linkCard(devices.length > 0, parts));
  return cards;
}

type Report = (notice: Notice | undefined) => void;
type MakeButton = (text: string, className: string, work: () => Promise<void>) => HTMLButtonElement;

async function busy(button: HTMLButtonElement, work: () => Promise<void>, onError: (error: unknown) => void) {
  // Not `disabled`: a button that is loses the focus.
  button.ariaDisabled = 'true';
  try {
    await work();
  } catch (error) {
    onError(error);
  } finally {
    button.ariaDisabled = null;
  }
}

function deviceCard(
  { channel, tenant, lastDeliveredAt, isFailing, test, turnOff }: DeviceView,
  { t, button, report }: Parts,
): HTMLElement {
  const last =
    lastDeliveredAt === null
      ? t('nothingYet')
      : t('lastDelivered', { at: new Date(lastDeliveredAt).toLocaleString(document.documentElement.lang) });
  return element(
    'section',
    { class: 'card' },
    element('h2', { text: t('on', { channel, tenant }) }),
    element('p', { class: 'muted', text: last }),
    ...(isFailing ? [element('p', { class: 'problem', text: t('lastFailed') })] : []),
    element(
      'div',
      { class: 'actions' },
      button(t('test'), 'main-action', async () => {
        const result = await test();
        if (result) report(result);
      }),
      button(t('turnOff'), '', turnOff),
    ),
  );
}

function offerCard({ channel, tenant, name, turnOn }: Offer, { t, button }: Parts) {
  const field = textField(t('name'), name, 100);
  return element(
    'section',
    { class: 'card' },
    element('p', { text: t('offer', { channel, tenant }) }),
    field.label,
    button(t('turnOn'), 'main-action', () => turnOn(field.input.value.trim() || name)),
  );
}

/** @param isFurther for one more channel: folded away, below what is on already. */
function linkCard(isFurther: boolean, { t, button, enterLink }: Parts): HTMLElement {
  const field = textField(t('enterLink'), '', 2_000);
  const content = [
    element('p', { class: 'muted', text: t('enterLinkHint') }),
    field.label,
    button(t('openLink'), 'main-action', () => enterLink(field.input.value)),
  ];
  if (!isFurther) return element('section', { class: 'card' }, ...content);
  const folded = element('div', { class: 'folded' }, ...content);
  return element('details', { class: 'card' }, element('summary', { text: t('addChannel') }), folded);
}

function textField(text: string, value: string, maxLength: number) {
  const input = element('input', { type: 'text', maxlength: String(maxLength) });
  input.value = value;
  return { input, label: element('label', { text }, input) };
}
