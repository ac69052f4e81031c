/** The color scheme: the person's choice in this browser, otherwise the setting of the operating system. */
import { createStore, createStoredChoice, useStore } from '../store.ts';

export const schemeChoices = ['auto', 'dark', 'light'] as const;
export type SchemeChoice = (typeof schemeChoices)[number];
export type Scheme = 'dark' | 'light';

const prefersLight = matchMedia('(prefers-color-scheme: light)');
const choice = createStoredChoice(
  'belfry.scheme',
  (stored): SchemeChoice => schemeChoices.find((each) => each === stored) ?? 'auto',
);
const scheme = createStore<Scheme>('dark');

function apply(): void {
  const machine = prefersLight.matches ? 'light' : 'dark';
  scheme.set(choice.get() === 'auto' ? machine : (choice.get() as Scheme));
  document.documentElement.classList.toggle('light', scheme.get() === 'light');
}

export const setSchemeChoice = (wanted: SchemeChoice): void => choice.set(wanted);

export const useScheme = (): Scheme => useStore(scheme);
export const useSchemeChoice = (): SchemeChoice => useStore(choice);

choice.subscribe(apply);
prefersLight.addEventListener('change', apply);
apply();
