import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { full } from '../torture/counts.ts';

type Scheme = 'dark' | 'light';

const standards = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** The only rules of these standards that look at colours: what all others find is the same in every colour scheme. */
const colourRules = ['color-contrast', 'link-in-text-block'];

/** What axe finds wrong with what is on the page now, a line each; none when nothing is. */
export function accessibilityFaults(page: Page): Promise<string[]> {
  return findings(page, { type: 'tag', values: standards });
}

/** As {@link accessibilityFaults}, of the colours alone: for a page that was looked at in another scheme. */
export function colourFaults(page: Page): Promise<string[]> {
  return findings(page, { type: 'rule', values: colourRules });
}

/** As {@link accessibilityFaults}, in the dark and in the light scheme. The page stays in the light one. */
export async function faultsInBothSchemes(page: Page): Promise<string[]> {
  await showScheme(page, 'dark');
  const dark = await accessibilityFaults(page);
  await showScheme(page, 'light');
  const light = await colourFaults(page);
  return [...dark.map((problem) => `dark: ${problem}`), ...light.map((problem) => `light: ${problem}`)];
}

/**
 * As {@link faultsInBothSchemes}, in the named scheme alone, where the page stays: for a state of a page that the look suite
 * sees in both, made of the same colours. `npm run torture` looks at each of them in both.
 */
export async function faultsIn(scheme: Scheme, page: Page): Promise<string[]> {
  if (full) return faultsInBothSchemes(page);
  await showScheme(page, scheme);
  return accessibilityFaults(page);
}

async function findings(page: Page, runOnly: { type: 'tag' | 'rule'; values: string[] }): Promise<string[]> {
  // Axe is 650 kB: a page that has it already is given nothing instead.
  const hasAxe = await page.evaluate(() => 'axe' in window);
  const axe = hasAxe ? new AxeBuilder({ page, axeSource: ';' }) : new AxeBuilder({ page });
  const { violations } = await axe
    // Paths to elements, which a fifth of the time goes into, are not shown.
    .options({ runOnly, resultTypes: ['violations'], preload: false, selectors: false })
    .setLegacyMode()
    .analyze();
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}

/** Resolves when the page has taken its colours from the scheme, and none of them changes any more. */
async function showScheme(page: Page, colorScheme: Scheme): Promise<void> {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  await page.evaluate(async () => {
    const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const settle = async () => {
      await nextFrame();
      await nextFrame();
      const transitions = document.getAnimations().filter((animation) => animation instanceof CSSTransition);
      await Promise.allSettled(transitions.map(({ finished }) => finished));
    };
    // A transition of what is not drawn may never finish; none takes longer than half a second.
    await Promise.race([settle(), new Promise((resolve) => setTimeout(resolve, 5_000))]);
  });
}
