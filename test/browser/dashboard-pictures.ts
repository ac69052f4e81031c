import { join } from 'node:path';
import { answersScenes } from './answers-scenes.ts';
import { DashboardLab } from './dashboard-lab.ts';
import type { DashboardScene, DashboardScenes } from './dashboard-scene.ts';
import { panelsScenes } from './panels-scenes.ts';
import { peopleScenes } from './people-scenes.ts';
import type { Pictures } from './pictures.ts';
import { rulesScenes } from './rules-scenes.ts';
import { integrationsScenes, levelsScenes, tokensScenes } from './settings-scenes.ts';
import { watchScenes } from './watch-scenes.ts';

const everything: readonly DashboardScenes[] = [
  ...panelsScenes,
  ...tokensScenes,
  ...integrationsScenes,
  ...levelsScenes,
  ...peopleScenes,
  ...watchScenes,
  ...answersScenes,
  ...rulesScenes,
  {
    name: 'empty',
    fill: async () => undefined,
    scenes: [
      'alarms',
      'overview',
      'history',
      'panels',
      'rules',
      'settings/integrations?tab=mappings',
      'settings/tokens',
      'settings/levels',
      'settings/tenant',
    ].map((path) => ({ name: path.replaceAll(/\W+/g, '-'), path })),
  },
];
const screens = { desk: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } } as const;
const languages = ['en', 'de'] as const;

/** Every scene on a desk and a phone, dark and light, in every language. */
export async function takeDashboardPictures({ browserPath, folder, only }: Pictures): Promise<void> {
  for (const { name, fill, scenes } of everything) {
    const wanted = scenes.filter((scene) => `${name}-${scene.name}`.includes(only));
    if (wanted.length === 0) continue;
    const lab = await DashboardLab.start(browserPath);
    await fill(lab);
    for (const scene of wanted) await pictures(lab, scene, join(folder, `${name}-${scene.name}`));
    await lab.close();
  }
}

async function pictures(
  lab: DashboardLab,
  { act, path: address, role = 'owner' }: DashboardScene,
  stem: string,
): Promise<void> {
  const { page, close, errors } = await lab.desk({
    path: address,
    role,
    name: 'Ada Byron',
    locale: 'en-GB',
  });
  await page.evaluate(() => document.fonts.ready);
  // Scenes find what they act on by its English text; the language is changed afterwards.
  await act?.(page);
  for (const language of languages) {
    await page.evaluate(languageFromAnotherWindow, language);
    for (const [size, viewport] of Object.entries(screens)) {
      await page.setViewportSize(viewport);
      for (const colorScheme of ['dark', 'light'] as const) {
        await page.emulateMedia({ colorScheme });
        // A page that draws nothing new does not notice the change until its next frame.
        await page.evaluate(() => new Promise(requestAnimationFrame));
        await page.waitForTimeout(400);
        const path = `${stem}-${language}-${size}-${colorScheme}.png`;
        await page.screenshot({ path });
        process.stdout.write(`${path}\n`);
      }
    }
  }
  for (const error of errors) process.stdout.write(`  ${error}\n`);
  await close();
}

function languageFromAnotherWindow(language: string): void {
  dispatchEvent(new StorageEvent('storage', { key: 'belfry.language', newValue: language }));
}
