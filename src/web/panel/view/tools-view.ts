import { element } from '#web/dom.ts';
import { icon } from '#web/icon.ts';
import type { PanelTranslate } from '../texts/en.ts';

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
  target.replaceChildren(icon(iconName));
}
