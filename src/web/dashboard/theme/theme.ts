import { createTheme, defaultVariantColorsResolver, type VariantColorsResolver } from '@mantine/core';
import { createStore, createStoredChoice, useStore } from '../store.ts';

const edge = '1px solid';

/**
 * Button colours by meaning: the accent, and `error` for destructive actions. The other styles of Mantine are in
 * base.css, because the content security policy forbids style sheets from scripts.
 */
const variantColors: VariantColorsResolver = (input) => {
  const tone = input.color === 'error' ? 'var(--error)' : 'var(--accent)';
  const tint = (percent: number) => `color-mix(in srgb, ${tone} ${percent}%, transparent)`;
  switch (input.variant) {
    case 'filled':
      return {
        background: tone,
        hover: `color-mix(in srgb, ${tone} 86%, var(--text))`,
        color: 'var(--on-accent)',
        border: `${edge} transparent`,
      };
    case 'light':
      return { background: tint(12), hover: tint(18), color: tone, border: `${edge} transparent` };
    case 'subtle':
      return {
        background: 'transparent',
        hover: input.color === 'error' ? tint(10) : 'var(--raised)',
        color: input.color === 'error' ? tone : 'var(--text)',
        border: `${edge} transparent`,
      };
    case 'default':
      return {
        background: 'var(--surface)',
        hover: 'var(--raised)',
        color: input.color === 'error' ? tone : 'var(--text)',
        border: `${edge} var(--line)`,
      };
    default:
      return defaultVariantColorsResolver(input);
  }
};

export const mantineTheme = createTheme({
  variantColorResolver: variantColors,
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Button: { defaultProps: { variant: 'default', size: 'sm', radius: 'md' } },
    ActionIcon: { defaultProps: { variant: 'subtle', size: 'lg', radius: 'md' } },
    // `lockScroll` would need a style sheet from a script, and the page would jump.
    Modal: {
      defaultProps: {
        lockScroll: false,
        centered: true,
        radius: 'md',
        overlayProps: { backgroundOpacity: 0.5 },
      },
    },
    Drawer: { defaultProps: { lockScroll: false, overlayProps: { backgroundOpacity: 0.5 } } },
    Menu: { defaultProps: { shadow: 'md', radius: 'md', position: 'bottom-end', withinPortal: true } },
    Tooltip: { defaultProps: { openDelay: 400, withArrow: false, radius: 'sm' } },
    Popover: { defaultProps: { shadow: 'md', radius: 'md' } },
    // Most fields are required; optional ones say so.
    InputWrapper: { defaultProps: { withAsterisk: false } },
    Switch: { defaultProps: { withThumbIndicator: false } },
  },
});

/** The color scheme: the person's choice in this browser, otherwise the setting of the operating system. */

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
