/** The keyboard: shortcuts of one key or two in a row ("g h"), off while text is typed; and the focus of buttons that become busy. */
import { useEffect, useRef } from 'react';
import { createStore, createStoredChoice, useStore } from '../store.ts';

/** Actions by keys, as in { '/': focusSearch, 'g h': toHistory }. */
export type Shortcuts = Readonly<Record<string, (event: KeyboardEvent) => void>>;

const sequenceMs = 1_200;
/** The registered shortcuts; the last one with a key handles it. */
const inForce: { readonly current: Shortcuts }[] = [];
/** Single letters and signs can be switched off on this machine, as WCAG 2.1.4 asks; arrows and Esc stay. */
const singleKeys = createStoredChoice('belfry.single-keys', (stored) => (stored === 'off' ? 'off' : 'on'));
let first: { key: string; at: number } | undefined;

export const setSingleKeys = (isOn: boolean): void => singleKeys.set(isOn ? 'on' : 'off');
export const useSingleKeys = (): boolean => useStore(singleKeys) === 'on';

/** The keys of the open page, for the list of shortcuts. */
export interface PageKeys {
  readonly page: string;
  /** Keys with spaces between them, and what they do. */
  readonly list: readonly (readonly [keys: string, text: string])[];
}
const pageKeys = createStore<PageKeys | undefined>(undefined);

/** @param keys the same object in each drawing, unless its texts change. */
export function useKeysInHelp(keys: PageKeys): void {
  useEffect(() => {
    pageKeys.set(keys);
    return () => pageKeys.set(undefined);
  }, [keys]);
}
export const usePageKeys = (): PageKeys | undefined => useStore(pageKeys);

/** @param rank A page's shortcuts come before those of the `frame`. */
export function useShortcuts(shortcuts: Shortcuts, rank: 'page' | 'frame' = 'page'): void {
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  useEffect(() => {
    if (inForce.length === 0) document.addEventListener('keydown', onKeyDown);
    if (rank === 'frame') inForce.unshift(latest);
    else inForce.push(latest);
    return () => {
      inForce.splice(inForce.indexOf(latest), 1);
      if (inForce.length === 0) document.removeEventListener('keydown', onKeyDown);
    };
  }, [rank]);
}

function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target))
    return;
  if (event.key.startsWith('Arrow') && !isAtRest(event.target)) return;
  if (singleKeys.get() === 'off' && event.key.length === 1) return;
  const pair = first && event.timeStamp - first.at < sequenceMs ? `${first.key} ${event.key}` : undefined;
  first = { key: event.key, at: event.timeStamp };
  const action = (pair !== undefined ? actionOf(pair) : undefined) ?? actionOf(event.key);
  if (!action) return;
  first = undefined;
  event.preventDefault();
  action(event);
}

const actionOf = (keys: string) =>
  inForce.findLast(({ current }) => current[keys] !== undefined)?.current[keys];

/** Arrows belong to the focused element, unless that is the page itself, its heading or a list. */
const isAtRest = (target: EventTarget | null): boolean =>
  target === document.body ||
  (target instanceof HTMLElement &&
    target.closest('main:focus, h1:focus, [role="grid"], [role="treegrid"]') !== null);

/** Keys belong to a focused text field, and to an open dialog or menu. */
function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return (
    target.isContentEditable ||
    target.closest('input, textarea, select, [role="dialog"], [role="menu"], [role="listbox"]') !== null
  );
}

export const isFocusLost = (): boolean =>
  document.activeElement === null || document.activeElement === document.body;

/**
 * A button is disabled while its request runs, and so it loses the focus. From now on each such button gets it back at the
 * end; if it is still disabled then, because everything is saved, the topmost dialog or drawer gets it.
 */
export function keepFocusOfBusyButtons(): void {
  let focused: Node | undefined;
  const observer = new MutationObserver((changes) => {
    for (const { target } of changes) {
      if (!(target instanceof HTMLButtonElement)) continue;
      if (target.hasAttribute('data-loading')) {
        if (target === document.activeElement) focused = target;
      } else if (target === focused) {
        focused = undefined;
        if (isFocusLost()) target.focus({ preventScroll: true });
        if (isFocusLost()) [...document.querySelectorAll<HTMLElement>('[aria-modal="true"]')].at(-1)?.focus();
      }
    }
  });
  observer.observe(document, { subtree: true, attributeFilter: ['data-loading'] });
}
