/** Keys for everything: single ones, and two in a row ("g h"). Never while something is being typed. */
import { useEffect, useRef, useSyncExternalStore } from 'react';

/** What each key does, as in { '/': focusSearch, 'g h': toHistory }; letters as they are typed. */
export type Shortcuts = Readonly<Record<string, (event: KeyboardEvent) => void>>;

const sequenceMs = 1_200;
/** Those that are in force: the last that has the key has it. */
const inForce: { readonly current: Shortcuts }[] = [];
const storageKey = 'belfry.single-keys';
const listeners = new Set<() => void>();
let singleKeysOn = readSingleKeys();
let first: { key: string; at: number } | undefined;

function readSingleKeys(): boolean {
  try {
    return localStorage.getItem(storageKey) !== 'off';
  } catch {
    return true;
  }
}

/** Letters and signs alone can be switched off on this machine, as WCAG 2.1.4 asks; arrows and Esc stay. */
export function setSingleKeys(isOn: boolean): void {
  singleKeysOn = isOn;
  try {
    localStorage.setItem(storageKey, isOn ? 'on' : 'off');
  } catch {
    // Without storage the choice holds until the page is closed.
  }
  for (const listener of listeners) listener();
}

export const useSingleKeys = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => singleKeysOn,
  );

/** @param rank `frame` gives way to what a page does with the same key. */
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
  if (!singleKeysOn && event.key.length === 1) return;
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

/** Arrows are for what has the focus, unless that is the page itself, its heading or a list. */
const isAtRest = (target: EventTarget | null): boolean =>
  target === document.body ||
  (target instanceof HTMLElement && target.closest('main:focus, h1:focus, [role="grid"]') !== null);

/** Keys belong to what has the focus when that takes text, and to a dialog or menu while one is open. */
function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return (
    target.isContentEditable ||
    target.closest('input, textarea, select, [role="dialog"], [role="menu"], [role="listbox"]') !== null
  );
}
