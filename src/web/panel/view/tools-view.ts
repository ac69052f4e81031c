import { element, fill } from '#web/dom.ts';
import { icon } from '#web/icon.ts';
import type { OwnChoices } from '../state/look.ts';
import type { PanelTranslate } from '../texts/en.ts';
import { createDialog } from './overlay-view.ts';
import { createSureButton } from './sure-button.ts';

export interface ToolsOptions {
  readonly translate: PanelTranslate;
  readonly isSoundOn: boolean;
  readonly toggleSound: () => void;
  readonly openSettings: () => void;
}

export interface ToolsView {
  readonly root: HTMLElement;
  close(): void;
}

const idleAfterMs = 4_000;

/** The controls of the screen; hidden until someone moves the pointer, touches the screen or presses a key. */
export function createToolsView({
  translate,
  isSoundOn,
  toggleSound,
  openSettings,
}: ToolsOptions): ToolsView {
  const sound = button(toggleSound);
  const full = button(toggleFullscreen);
  const settings = button(openSettings);
  const root = element('nav', { class: 'tools', 'aria-label': translate('tools') }, sound, full, settings);
  const update = () => {
    dress(sound, isSoundOn ? 'volume' : 'volume-off', translate(isSoundOn ? 'soundOn' : 'soundOff'), 'M');
    const isFull = document.fullscreenElement !== null;
    dress(full, isFull ? 'minimize' : 'maximize', translate(isFull ? 'fullscreenLeave' : 'fullscreen'), 'F');
    dress(settings, 'settings', translate('settings'), 'S');
  };
  full.hidden = !document.fullscreenEnabled;
  document.addEventListener('fullscreenchange', update);
  update();
  return { root, close: () => document.removeEventListener('fullscreenchange', update) };
}

export function toggleFullscreen(): void {
  if (document.fullscreenElement) void document.exitFullscreen();
  else document.documentElement.requestFullscreen({ navigationUI: 'hide' }).catch(() => undefined);
}

/** Marks the page idle while nobody uses it; controls and pointer are then hidden. */
export function watchIdle(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const { classList } = document.documentElement;
  const wake = () => {
    classList.remove('idle');
    clearTimeout(timer);
    timer = setTimeout(() => classList.add('idle'), idleAfterMs);
  };
  for (const type of ['pointermove', 'pointerdown', 'keydown'] as const)
    addEventListener(type, wake, { passive: true });
  wake();
}

function button(onClick: () => void): HTMLButtonElement {
  const made = element('button', { type: 'button' });
  made.addEventListener('click', onClick);
  return made;
}

function dress(target: HTMLButtonElement, iconName: string, label: string, key: string): void {
  if (target.getAttribute('aria-label') === label) return;
  target.setAttribute('aria-label', label);
  target.setAttribute('aria-keyshortcuts', key);
  target.title = `${label} (${key})`;
  fill(target, icon(iconName));
}

export interface SettingsOptions {
  readonly translate: PanelTranslate;
  readonly choices: () => OwnChoices;
  /** Applies a change; undefined returns to the panel's setting. */
  readonly choose: (change: OwnChoices) => void;
  readonly testSound: () => void;
  readonly unpair: () => void;
}

type Choice = readonly [label: string, change: OwnChoices, isChosen: boolean];

const sizes = [0.75, 1, 1.25, 1.5, 2];

/** Choices for this screen alone. Each starts with the panel's setting. */
export function createSettingsView(options: SettingsOptions): {
  readonly root: HTMLDialogElement;
  open(): void;
} {
  const { translate } = options;
  const content = element('div', { class: 'choices' });
  const title = element('h2', { text: translate('settings'), id: 'settings-title' });
  const below = element(
    'div',
    { class: 'below' },
    element('span', { text: translate('keysHint') }),
    unpairButton(options),
  );
  const root = createDialog('settings', title, translate, content, below);
  return {
    root,
    open() {
      fill(content, ...groups(options));
      if (!root.open) root.showModal();
    },
  };
}

function groups({ translate, choices, choose, testSound }: SettingsOptions): HTMLElement[] {
  const own = choices();
  const asPanel = (key: keyof OwnChoices): Choice => [
    translate('asPanel'),
    { [key]: undefined } as OwnChoices,
    own[key] === undefined,
  ];
  const schemes = (['dark', 'light', 'auto'] as const).map(
    (scheme): Choice => [translate(scheme), { scheme }, own.scheme === scheme],
  );
  const scales = sizes.map((scale): Choice => [`${scale * 100} %`, { scale }, own.scale === scale]);
  const sounds = [true, false].map(
    (sound): Choice => [translate(sound ? 'on' : 'off'), { sound }, own.sound === sound],
  );
  const languages = (
    [
      ['English', 'en'],
      ['Deutsch', 'de'],
    ] as const
  ).map(([label, language]): Choice => [label, { language }, own.language === language]);
  const test = element('button', {
    class: 'plain',
    text: translate('soundTest'),
    type: 'button',
  });
  test.addEventListener('click', testSound);
  return [
    group(translate('scheme'), [asPanel('scheme'), ...schemes], choose),
    group(translate('size'), [asPanel('scale'), ...scales], choose),
    group(translate('sound'), [asPanel('sound'), ...sounds], choose, test),
    group(translate('language'), [asPanel('language'), ...languages], choose),
  ];
}

function group(
  label: string,
  choices: readonly Choice[],
  choose: (change: OwnChoices) => void,
  ...more: readonly HTMLElement[]
): HTMLElement {
  const buttons = choices.map(([text, change, isChosen]) => {
    const button = element('button', {
      text,
      type: 'button',
      'aria-pressed': String(isChosen),
    });
    button.addEventListener('click', () => choose(change));
    return button;
  });
  return element(
    'fieldset',
    {},
    element('legend', { text: label }),
    element('div', { class: 'options' }, ...buttons, ...more),
  );
}

/** Asks once more, because somebody must walk to a screen that was unpaired by mistake. */
const unpairButton = ({ translate, unpair }: SettingsOptions): HTMLElement =>
  createSureButton({
    className: 'danger',
    text: () => translate('unpair'),
    sureText: () => translate('unpairSure'),
    asks: () => true,
    onPress: unpair,
  }).root;
