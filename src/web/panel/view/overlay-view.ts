/** What stands before everything else for a while, because somebody at the dashboard asked for it. */
import { element, setText } from '#web/dom.ts';
import type { PanelTranslate } from '../texts/panel-texts.ts';
import type { TestCard } from './test-card-view.ts';

export interface Overlay {
  readonly root: HTMLElement;
  /** Whether what lies behind cannot be seen. */
  readonly isOpen: boolean;
  identify(name: string, location: string | null, durationMs: number, translate: PanelTranslate): void;
  test(card: TestCard, durationMs: number): void;
  /** Says what time it is by now. */
  tick(time: string): void;
  close(): void;
}

/** `onClose` is called when what lies behind can be seen again. A touch or a key closes it too. */
export function createOverlay(onClose: () => void): Overlay {
  const root = element('div', { class: 'overlay', attributes: { role: 'status' } });
  root.hidden = true;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let card: TestCard | undefined;

  const close = () => {
    if (root.hidden) return;
    clearTimeout(timer);
    root.hidden = true;
    root.replaceChildren();
    card = undefined;
    onClose();
  };
  const open = (content: HTMLElement, durationMs: number) => {
    clearTimeout(timer);
    root.replaceChildren(content);
    root.hidden = false;
    timer = setTimeout(close, durationMs);
  };
  root.addEventListener('click', close);
  return {
    root,
    get isOpen() {
      return !root.hidden;
    },
    identify(name, location, durationMs, translate) {
      card = undefined;
      open(identification(name, location, translate), durationMs);
    },
    test(next, durationMs) {
      card = next;
      open(next.root, durationMs);
    },
    tick: (time) => card && setText(card.clock, time),
    close,
  };
}

/** A name of a few letters fills the wall; a long one has room all the same. */
const mostSize = 280;
const leastSize = 84;
const lettersPerLine = 3_000;

function identification(name: string, location: string | null, translate: PanelTranslate): HTMLElement {
  const size = Math.max(leastSize, Math.min(mostSize, lettersPerLine / Array.from(name).length));
  const strong = element('strong', { text: name, attributes: { dir: 'auto' } });
  strong.style.setProperty('--size', String(Math.round(size)));
  const parts = [element('span', { text: translate('thisIs') }), strong];
  if (location !== null) parts.push(element('span', { text: location, attributes: { dir: 'auto' } }));
  return element('div', { class: 'identify' }, ...parts);
}
