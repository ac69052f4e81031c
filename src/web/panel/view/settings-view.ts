import { element } from '#web/dom.ts';
import { icon } from '#web/icon.ts';
import type { OwnChoices } from '../state/look.ts';
import type { PanelTranslate } from '../texts/en.ts';

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
const sureMs = 4_000;

/** Choices for this screen alone. Each starts with the panel's setting. */
export function createSettingsView(options: SettingsOptions): {
  readonly root: HTMLDialogElement;
  open(): void;
} {
  const { translate } = options;
  const content = element('div', { class: 'choices' });
  const close = element('button', { type: 'button', 'aria-label': translate('close') }, icon('x'));
  const title = element('h2', { text: translate('settings'), id: 'settings-title' });
  const root = element(
    'dialog',
    { class: 'settings', 'aria-labelledby': title.id },
    element('div', { class: 'title' }, title, close),
    content,
    element(
      'div',
      { class: 'below' },
      element('span', { text: translate('keysHint') }),
      unpairButton(options),
    ),
  );
  close.addEventListener('click', () => root.close());
  root.addEventListener('click', ({ target }) => {
    if (target === root) root.close();
  });
  const fill = () => content.replaceChildren(...groups(options));
  return {
    root,
    open() {
      fill();
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
function unpairButton({ translate, unpair }: SettingsOptions): HTMLElement {
  const button = element('button', {
    class: 'danger',
    text: translate('unpair'),
    type: 'button',
  });
  let sureUntil = 0;
  button.addEventListener('click', () => {
    if (performance.now() < sureUntil) return unpair();
    sureUntil = performance.now() + sureMs;
    button.textContent = translate('unpairSure');
    setTimeout(() => {
      button.textContent = translate('unpair');
    }, sureMs);
  });
  return button;
}
