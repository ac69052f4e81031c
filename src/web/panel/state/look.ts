import type { SettingsEvent } from '#contract/panels/panel.ts';
import type { DailyWindow } from './clock.ts';

/** Choices made at this screen; they override the panel's settings. */
export interface OwnChoices {
  readonly scheme?: 'dark' | 'light' | 'auto';
  readonly scale?: number;
  readonly sound?: boolean;
  readonly language?: string;
}

/** How the screen looks and sounds, from all settings together. */
export interface Look {
  readonly scheme: 'dark' | 'light';
  readonly scale: number;
  readonly maxCards: number | undefined;
  /** Names of the labels that cards show. */
  readonly labels: readonly string[];
  readonly sound: boolean;
  readonly quiet: DailyWindow | undefined;
  readonly dim: DailyWindow | undefined;
  readonly timeZone: string;
  readonly locale: string | undefined;
  /** The most wanted first. */
  readonly languages: readonly string[];
}

export interface BrowserSettings {
  readonly languages: readonly string[];
  readonly timeZone: string;
  readonly prefersLight: boolean;
}

/** Combines settings: the choice at the screen, otherwise the panel's setting, otherwise the default. */
export function lookOf(settings: SettingsEvent | undefined, own: OwnChoices, browser: BrowserSettings): Look {
  const display = settings?.panel.display ?? {};
  const scheme = own.scheme ?? display.scheme ?? 'dark';
  const wanted = [own.language, display.locale, ...browser.languages].filter((tag) => tag !== undefined);
  return {
    scheme: scheme === 'auto' ? (browser.prefersLight ? 'light' : 'dark') : scheme,
    scale: clamp(own.scale ?? display.scale ?? 1, 0.5, 4),
    maxCards: display.maxCards,
    labels: display.labels ?? [],
    sound: own.sound ?? display.sound ?? true,
    quiet: windowOf(display.quietFrom, display.quietUntil),
    dim: windowOf(display.dimFrom, display.dimUntil),
    timeZone: display.timeZone ?? settings?.tenant.timeZone ?? browser.timeZone,
    locale: display.locale ?? own.language ?? browser.languages[0],
    languages: wanted,
  };
}

/** A window needs both ends. */
function windowOf(from: string | undefined, until: string | undefined): DailyWindow | undefined {
  return from !== undefined && until !== undefined ? { from, until } : undefined;
}

const clamp = (value: number, least: number, most: number) => Math.min(most, Math.max(least, value));
