/** Televisions have old browsers: Tizen 6 and webOS 5 are Chromium 76, of the year 2019. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'acorn';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { coreSwitch } from '../support/core-switch.ts';
import { PanelLab } from './panel-lab.ts';

const web = join(import.meta.dirname, '../../dist/web');

/** The files of one kind that the panel page loads. */
function loaded(kind: 'js' | 'css'): string {
  const html = readFileSync(join(web, 'panel/index.html'), 'utf8');
  const paths = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path as string);
  const texts = paths
    .filter((path) => path.endsWith(`.${kind}`))
    .map((path) => readFileSync(join(web, path), 'utf8'));
  expect(texts).not.toEqual([]);
  return texts.join('\n');
}

test('the scripts of the panel are ES2019, and no other page has them', () => {
  expect(() => parse(loaded('js'), { ecmaVersion: 2019, sourceType: 'module' })).not.toThrow();
  const [name = ''] = /panel-[\w-]+\.js/.exec(readFileSync(join(web, 'panel/index.html'), 'utf8')) ?? [];
  const others = readdirSync(join(web, 'assets')).filter((file) => file.endsWith('.js') && file !== name);
  expect(others.filter((file) => readFileSync(join(web, 'assets', file), 'utf8').includes(name))).toEqual([]);
});

/** What Chromium 76 lacks at run time: static functions, and methods of any object. */
const missing = {
  functions: [
    ...['AbortSignal.any', 'AbortSignal.timeout', 'Array.fromAsync', 'Object.groupBy', 'Object.hasOwn'],
    ...['Promise.any', 'Promise.try', 'Promise.withResolvers', 'URL.canParse', 'URL.parse'],
    ...['crypto.randomUUID', 'CSS.registerProperty', 'Intl.DisplayNames', 'Intl.Segmenter'],
    ...['Intl.supportedValuesOf', 'reportError', 'structuredClone'],
    ...['AggregateError', 'FinalizationRegistry', 'WeakRef'],
  ],
  methods: [
    ...['at', 'findLast', 'findLastIndex', 'replaceAll', 'toReversed', 'toSorted', 'toSpliced'],
    ...['replaceChildren', 'getAnimations', 'checkVisibility', 'showPopover', 'hidePopover', 'showPicker'],
    ...['throwIfAborted', 'isSubsetOf', 'union', 'difference', 'intersection', 'setHTMLUnsafe'],
  ],
};

test('the scripts of the panel call nothing that Chromium 76 lacks', () => {
  const script = loaded('js');
  const names = [
    ...missing.functions.filter((name) =>
      new RegExp(`(?<![\\w$.])${name.replace('.', '\\.')}\\b`).test(script),
    ),
    ...missing.methods.filter((name) => new RegExp(`\\.${name}(?:\\?\\.)?\\(`).test(script)),
  ];
  expect(names).toEqual([]);
});

interface Rule {
  readonly selectors: readonly string[];
  readonly declarations: readonly (readonly [property: string, value: string])[];
  /** Inside @supports or @container, which an old browser skips. */
  readonly isExtra: boolean;
}

/** The rules of built CSS, which has no comments and no nesting. */
function rulesOf(css: string): Rule[] {
  const rules: Rule[] = [];
  const around: string[] = [];
  for (const [, head = '', mark] of css.matchAll(/([^{}]*)([{}])/g)) {
    if (mark === '{') {
      around.push(head);
      continue;
    }
    const own = around.pop() ?? '';
    if (own.startsWith('@') || around.some((each) => /^@(?:-webkit-)?keyframes/.test(each))) continue;
    rules.push({
      selectors: own.split(','),
      declarations: head
        .split(';')
        .filter((each) => each !== '')
        .map((each) => [each.slice(0, each.indexOf(':')), each.slice(each.indexOf(':') + 1)]),
      isExtra: around.some((each) => /^@(?:supports|container)/.test(each)),
    });
  }
  return rules;
}

/** Declarations that Chromium 76 ignores, and how a page is told that it must not count on them. */
const newer: readonly RegExp[] = [
  /^(?:inset|(?:inset|margin|padding)-(?:inline|block)|aspect-ratio|translate|scale|rotate):/,
  /^overflow(?:-[xy])?:clip/,
  /^overflow-wrap:anywhere/,
  /:.*\b(?:min|max|clamp|color-mix|oklch|oklab|lab|lch|light-dark|env)\(/,
  /:.*\d(?:[dsl]v[hw]|cq[whib])\b/,
];
/** Decoration: a page without it reads the same. */
const allowed = [':focus-visible', '::marker'];

test('the styles of the panel have a fallback for whatever Chromium 76 does not know', () => {
  const css = loaded('css');
  const rules = rulesOf(css.replaceAll(/@import[^;]*;/g, ''));
  expect(rules.length).toBeGreaterThan(150);
  const plain = new Map<string, Map<string, string>>();
  for (const { selectors, declarations } of rules.filter(({ isExtra }) => !isExtra))
    for (const selector of selectors)
      plain.set(selector, new Map([...(plain.get(selector) ?? []), ...declarations]));
  const problems: string[] = [];
  for (const { selectors, declarations, isExtra } of rules) {
    const where = selectors.join(',');
    if (/:(?:has|is|where)\(|&/.test(where)) problems.push(`${where}: an unknown selector`);
    // One unknown selector takes the whole list with it.
    if (selectors.length > 1 && allowed.some((each) => where.includes(each)))
      problems.push(`${where}: an unknown selector in a list`);
    for (const [i, [property, value]] of declarations.entries()) {
      const hasPlain = selectors.every((selector) => plain.get(selector)?.has(property));
      const isFlexGap =
        /^(?:row-|column-)?gap$/.test(property) &&
        !selectors.some((selector) => plain.get(selector)?.get('display') === 'grid');
      if (isFlexGap) problems.push(`${where}: a gap in a flexbox`);
      if (!newer.some((feature) => feature.test(`${property}:${value}`))) continue;
      // A value with a variable is found to be invalid only when the declaration before it is gone.
      const older = property === 'overflow-wrap' ? 'word-break' : property;
      const before = declarations.slice(0, i).some(([earlier]) => earlier === older);
      const hasFallback = isExtra ? hasPlain : before && !value.includes('var(');
      if (!hasFallback) problems.push(`${where}: ${property}: ${value}`);
    }
  }
  expect(problems).toEqual([]);
  expect(css).not.toMatch(/@(?:layer|property|scope|starting-style)\b/);
});

let lab: PanelLab;
beforeAll(async () => {
  lab = await PanelLab.start(inject('browserPath'));
});
afterAll(() => lab.stop());

/** Removes from the page what the browsers of televisions lack. */
function makeOld({ functions, methods }: typeof missing): void {
  const globals = globalThis as unknown as Record<string, Record<string, unknown>>;
  for (const path of functions) {
    const [owner = '', name] = path.split('.');
    if (name === undefined) delete globals[owner];
    else if (owner === 'crypto') delete (Crypto.prototype as Partial<Crypto>).randomUUID;
    else delete globals[owner]?.[name];
  }
  const prototypes = [Array, String, Set, Element, Document, AbortSignal, HTMLElement, HTMLInputElement];
  for (const { prototype } of prototypes) for (const name of methods) Reflect.deleteProperty(prototype, name);
  Reflect.deleteProperty(Navigator.prototype, 'wakeLock');
  const { addEventListener } = EventTarget.prototype;
  EventTarget.prototype.addEventListener = function (type, listener, options) {
    if (typeof options === 'object' && options.signal)
      throw new TypeError('a listener cannot be bound to a signal');
    addEventListener.call(this, type, listener, options);
  };
}

/** A screen in a browser that lacks what those of televisions lack. */
async function television() {
  const screen = await lab.screen({ name: 'television', usedOnce: true });
  const { page } = screen;
  await page.addInitScript(makeOld, missing);
  await page.reload();
  await page.locator('header[data-health="online"]').waitFor();
  expect(await page.evaluate(() => 'at' in Array.prototype || 'hasOwn' in Object)).toBe(false);
  return screen;
}

test('a browser of a television pairs, shows alarms, opens its settings and the test card, and pairs again', async () => {
  const { page, errors, panelId, close } = await television();

  const sender = await lab.server.token({ scopes: ['notify'] });
  await lab.server.notify(sender, { title: 'db is down', message: 'm', level: 'critical', host: 'db-01' });
  await page.locator('.card.critical h2', { hasText: 'db is down' }).waitFor();
  await page.keyboard.press('s');
  await page.locator('dialog.settings[open] .options button').first().waitFor();
  await page.locator('dialog.settings[open] .title button').click();
  await lab.server.call('POST', `/api/panels/${panelId}/test`, { token: await lab.server.key('admin') });
  await page.locator('.overlay .test-card').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('.overlay .test-card').waitFor({ state: 'detached' });

  const levels = ['error', 'warning'];
  for (let i = 0; i < 30; i++) {
    const title = `The ${String.fromCodePoint(97 + (i % 26)).repeat(1 + Math.floor(i / 26))} part fails`;
    await lab.server.notify(sender, { title, message: 'm', level: levels[i % 2], host: `h-${i}` });
  }
  await page.locator('.rows .row').first().waitFor();

  await page.keyboard.press('s');
  await page.locator('dialog[open] .danger').click();
  await page.locator('dialog[open] .danger').click();
  await page.locator('.pairing .qr svg').waitFor();
  expect(await page.locator('.code').textContent()).toMatch(/^[2-9A-Z]{6}$/);
  expect(errors).toEqual([]);
  await close();
});

test('a browser of a television shows instructions, what follows a cause, and groups with their details', async () => {
  await lab.clearAll();
  const network = await coreSwitch(lab.server);
  const { page, errors, close } = await television();
  const details = page.locator('dialog.details');
  const isClosed = () => details.waitFor({ state: 'hidden' });
  const json = {
    name: 'plant',
    when: { host: ['plant'] },
    then: { instructions: 'Call the plant.' },
    continue: true,
  };
  await lab.server.call('POST', '/api/rules', { token: await lab.server.key('admin'), json });
  const sender = await lab.server.token({ scopes: ['notify'] });
  await lab.server.notify(sender, {
    title: 'Pump failed',
    message: 'm',
    level: 'critical',
    host: 'plant',
    ttl: 0,
  });
  await page.getByRole('button', { name: 'Instructions for “Pump failed”' }).click();
  await details.locator('.what-to-do .text', { hasText: 'Call the plant.' }).waitFor();
  await page.keyboard.press('Escape');
  await isClosed();

  const core = await network.switchDown();
  for (const host of ['ap-1', 'ap-2', 'ap-3']) await network.hostDown(host);
  await page.getByRole('button', { name: '3 followed' }).click();
  await expect.poll(() => details.locator('.followers li').count()).toBe(3);
  await network.clear(core);
  await isClosed();
  await page.locator('.cards').getByText('Host unreachable').first().waitFor();

  for (let n = 0; n < 50; n++)
    await lab.server.notify(sender, {
      title: `BGP peer lost ${n}`,
      message: 'm',
      level: 'error',
      host: `edge-${n}`,
      ttl: 0,
    });
  const group = page.locator('.card.group, .row[data-id]', { hasText: 'BGP peer lost' });
  await group.filter({ hasText: '50 hosts' }).click();
  await details.getByText('BGP peer lost · 50 alarms').waitFor();
  expect(await details.locator('.card').count()).toBeGreaterThan(1);
  await page.keyboard.press('Escape');
  await isClosed();
  expect(errors).toEqual([]);
  await close();
});
