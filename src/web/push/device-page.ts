/** What the page of a device shows: what it is set up for, or how to set it up. */
import { element } from '#web/dom.ts';
import type { Obstacle } from './subscribing.ts';
import type { PushTranslate } from './texts/en.ts';

export interface DeviceView {
  readonly channel: string;
  readonly tenant: string;
  readonly lastDeliveredAt: string | null;
  test(): Promise<string>;
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
  readonly offer: Offer | undefined;
  /** Follows a link that was entered. @throws Error when it is none. */
  enterLink(text: string): Promise<void>;
  /** What went wrong, or was done. */
  readonly notice: string | undefined;
}

type Report = (text: string, isProblem?: boolean) => void;

export function pageOf(
  state: PageState,
  t: PushTranslate,
  reasonOf: (error: unknown) => string,
): HTMLElement {
  const status = element('p', { class: 'status', attributes: { role: 'status' } });
  const report: Report = (text, isProblem = false) => {
    status.textContent = text;
    status.classList.toggle('problem', isProblem);
  };
  if (state.notice !== undefined) report(state.notice);
  /** A button that is busy while it works, and says what went wrong. */
  const button = (text: string, className: string, work: () => Promise<void>) => {
    const made = element('button', { text, class: className, attributes: { type: 'button' } });
    made.addEventListener('click', () => void busy(made, work, (error) => report(reasonOf(error), true)));
    return made;
  };
  const { obstacle, offer, devices } = state;
  const parts = devices.map((device) => deviceCard(device, { t, button, report }));
  if (obstacle) parts.push(element('p', { class: 'card obstacle', text: t(`obstacle.${obstacle}`) }));
  // Without permission it may be tried again: the browser says so itself.
  if (offer && (obstacle === undefined || obstacle === 'denied')) parts.push(offerCard(offer, t, button));
  if (!offer && devices.length === 0 && obstacle === undefined)
    parts.push(linkCard(state.enterLink, t, button));
  return element(
    'main',
    { class: 'push' },
    element('p', { class: 'brand', text: 'Belfry' }),
    element('h1', { text: t('title') }),
    ...parts,
    status,
  );
}

type MakeButton = (text: string, className: string, work: () => Promise<void>) => HTMLButtonElement;

async function busy(button: HTMLButtonElement, work: () => Promise<void>, onError: (error: unknown) => void) {
  button.disabled = true;
  try {
    await work();
  } catch (error) {
    onError(error);
  } finally {
    button.disabled = false;
  }
}

function deviceCard(
  { channel, tenant, lastDeliveredAt, test, turnOff }: DeviceView,
  { t, button, report }: { t: PushTranslate; button: MakeButton; report: Report },
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
    element(
      'div',
      { class: 'actions' },
      button(t('test'), 'main-action', async () => report(await test())),
      button(t('turnOff'), '', turnOff),
    ),
  );
}

function offerCard({ channel, tenant, name, turnOn }: Offer, t: PushTranslate, button: MakeButton) {
  const field = textField(t('name'), name, 100);
  return element(
    'section',
    { class: 'card' },
    element('p', { text: t('offer', { channel, tenant }) }),
    field.label,
    button(t('turnOn'), 'main-action', () => turnOn(field.input.value.trim() || name)),
  );
}

function linkCard(enterLink: (text: string) => Promise<void>, t: PushTranslate, button: MakeButton) {
  const field = textField(t('enterLink'), '', 2_000);
  return element(
    'section',
    { class: 'card' },
    element('p', { class: 'muted', text: t('enterLinkHint') }),
    field.label,
    button(t('openLink'), 'main-action', () => enterLink(field.input.value)),
  );
}

function textField(text: string, value: string, maxLength: number) {
  const input = element('input', { attributes: { type: 'text', maxlength: String(maxLength) } });
  input.value = value;
  return { input, label: element('label', { text }, input) };
}
