/** Dark or light: as the person chose on this machine, else as the machine is set. */
import { useSyncExternalStore } from 'react';

export const schemeChoices = ['auto', 'dark', 'light'] as const;
export type SchemeChoice = (typeof schemeChoices)[number];
export type Scheme = 'dark' | 'light';

const storageKey = 'belfry.scheme';
const prefersLight = matchMedia('(prefers-color-scheme: light)');
const listeners = new Set<() => void>();
let choice = readChoice();

function readChoice(): SchemeChoice {
  try {
    const stored = localStorage.getItem(storageKey);
    return schemeChoices.find((each) => each === stored) ?? 'auto';
  } catch {
    return 'auto';
  }
}

function scheme(): Scheme {
  if (choice !== 'auto') return choice;
  return prefersLight.matches ? 'light' : 'dark';
}

function apply(): void {
  document.documentElement.classList.toggle('light', scheme() === 'light');
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export function setSchemeChoice(wanted: SchemeChoice): void {
  choice = wanted;
  try {
    localStorage.setItem(storageKey, wanted);
  } catch {
    // Without storage the choice holds until the page is closed.
  }
  apply();
}

export const useScheme = (): Scheme => useSyncExternalStore(subscribe, scheme);
export const useSchemeChoice = (): SchemeChoice => useSyncExternalStore(subscribe, () => choice);

prefersLight.addEventListener('change', apply);
apply();
