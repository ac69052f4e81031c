/** A flood of alarms for a wall, and a record of what moves on the wall meanwhile. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import type { TestServer } from '../support/server.ts';

export const subjects = [
  'BGP peer lost',
  'Disk almost full',
  'Queue is not read',
  'Link flapping',
  'Fan stopped',
  'Clock drifts',
  'Replication stopped',
  'Certificate ends soon',
  'Backup did not end',
  'Door open',
  'Coolant flow low',
  'Mails are waiting',
  'Emergency stop pulled',
  'Power lost in rack',
  'Consumer lag',
  'Checkout is slow',
  'Jam at infeed',
  'Temperature high',
  'Payment service is not ready',
  'Stock is negative',
];
/** Of a subject, by its place in the list. */
export const levels = ['critical', 'error', 'warning', 'warning', 'info'];

/** The alarm of this number: the kinds come in no order, but the same in each flood. Each twelfth repeats the key of an earlier one. */
export function floodAlarm(n: number) {
  const kind = ((n * 7 + Math.floor(n / 20) * 11 + ((n * n) % 13)) >>> 0) % subjects.length;
  const host = `edge-${String(kind).padStart(2, '0')}-${n % 12 === 11 ? 0 : n}`;
  const level = levels[kind % levels.length];
  return {
    title: `${subjects[kind]} ${n}`,
    message: 'Seen by the monitoring',
    host,
    level,
    key: `${kind}:${host}`,
    ttl: 0,
  };
}

/** Sends so many, evenly in this time; `from` continues a flood. Each 25th time an earlier one is cleared. */
export async function flood(
  server: TestServer,
  { count, ms, from = 0 }: { readonly count: number; readonly ms: number; readonly from?: number },
): Promise<void> {
  const [token, key] = await Promise.all([server.token({ scopes: ['notify'] }), server.key('admin')]);
  const ids: string[] = [];
  const began = performance.now();
  const answers: Promise<unknown>[] = [];
  for (let n = 0; n < count; n++) {
    await sleep(Math.max(0, began + (n * ms) / count - performance.now()));
    const sent = server.notify(token, floodAlarm(from + n)).then(({ json }) => ids.push(json.id));
    answers.push(sent);
    const ended = n % 25 === 24 ? ids[n - 20] : undefined;
    if (ended) answers.push(server.call('POST', `/api/notifications/${ended}/clear`, { token: key }));
  }
  await Promise.all(answers);
}

/** One thing on the screen after a repaint. */
interface Seen {
  /** The title, without the number if it is a group. */
  readonly name: string;
  /** How it stands: as a card, a group or a row. */
  readonly form: string;
  /** Its level, and whether somebody takes care of it. */
  readonly level: string;
  readonly place: string;
  readonly size: string;
}

export interface Repaint {
  readonly at: number;
  /** In reading order; only what is inside the window. */
  readonly seen: readonly Seen[];
  /** Rows of cards, and columns and height of rows. */
  readonly layout: string;
}

/** Records the screen after each change from now on, until {@link repaintsOf}. It reads only when something has changed. */
export async function watchWall(page: Page): Promise<void> {
  await page.evaluate(() => {
    const cards = document.querySelector('.cards') as HTMLElement;
    const repaints: Repaint[] = [];
    const read = () => {
      const all = [...cards.querySelectorAll<HTMLElement>('.card, .row:not(.rest)')];
      const seen = all.flatMap((root): Seen[] => {
        const { top, bottom } = root.getBoundingClientRect();
        if (bottom <= 0 || top >= innerHeight) return [];
        const title = root.querySelector('h2, .common, .what');
        const { offsetLeft: x, offsetTop: y, offsetWidth: w, offsetHeight: h, style, classList } = root;
        return [
          {
            name: title?.textContent ?? '',
            form: classList.contains('row') ? 'row' : classList.contains('group') ? 'group' : 'card',
            level: `${style.getPropertyValue('--fill')}${classList.contains('done') ? ' done' : ''}`,
            // Without the motion with which a card arrives.
            place: `${x} ${y}`,
            size: `${w} ${h} ${style.getPropertyValue('--z')}`,
          },
        ];
      });
      const list = cards.querySelector<HTMLElement>('.rows');
      const layout = `${cards.style.gridTemplateRows} | ${list ? list.style.cssText : ''}`;
      repaints.push({ at: performance.now(), seen, layout });
    };
    read();
    new MutationObserver(read).observe(cards, {
      subtree: true,
      childList: true,
      attributes: true,
      characterData: true,
    });
    Object.assign(window, { repaints });
  });
}

export const repaintsOf = (page: Page): Promise<Repaint[]> =>
  page.evaluate(() => (window as unknown as { repaints: Repaint[] }).repaints);

/** What a person in front of the wall sees as restless. */
export interface Restlessness {
  /** Things that came before others which they stood behind, or the reverse, though no level changed. */
  readonly overtook: number;
  /** Things that moved or changed their size though the same things stand there with the same levels. */
  readonly withoutReason: number;
  /** Things that were back at a place and size within three seconds after they had left it. */
  readonly cameBack: number;
  /** Kinds that fell apart into single alarms after they had been one. */
  readonly fellApart: number;
  /** Changes of the layout to one that was there before. */
  readonly layoutsBack: number;
  readonly layouts: number;
  /** All moves, also for a reason. */
  readonly moves: number;
  /** Milliseconds from the first repaint to the last move. */
  readonly lastMoveMs: number;
}

const backMs = 3_000;

export function restlessnessOf(repaints: readonly Repaint[]): Restlessness {
  const found = {
    overtook: 0,
    withoutReason: 0,
    cameBack: 0,
    fellApart: 0,
    layoutsBack: 0,
    layouts: 0,
    moves: 0,
    lastMoveMs: 0,
  };
  const layouts = new Set<string>();
  const kinds = new Set<string>();
  const past = new Map<string, { at: number; where: string }[]>();
  let before: Repaint | undefined;
  for (const repaint of repaints) {
    if (before) compare(before, repaint, found, repaint.at - (repaints[0]?.at ?? 0));
    if (before?.layout !== repaint.layout) {
      found.layouts += 1;
      if (layouts.has(repaint.layout)) found.layoutsBack += 1;
      layouts.add(repaint.layout);
    }
    for (const name of kinds) {
      const apart = repaint.seen.filter((each) => each.name.startsWith(`${name} `)).length;
      if (apart < 2 || repaint.seen.some((each) => each.name === name)) continue;
      found.fellApart += 1;
      kinds.delete(name);
    }
    for (const { name, place, size } of repaint.seen) {
      if (!/\d$/.test(name)) kinds.add(name);
      const where = `${place} ${size}`;
      const earlier = past.get(name) ?? [];
      if (earlier.at(-1)?.where !== where) {
        if (earlier.some((one) => one.where === where && repaint.at - one.at < backMs)) found.cameBack += 1;
        earlier.push({ at: repaint.at, where });
      }
      const last = earlier.at(-1);
      if (last) last.at = repaint.at;
      past.set(name, earlier);
    }
    before = repaint;
  }
  return found;
}

type Counts = { -readonly [Name in keyof Restlessness]: number };

function compare(before: Repaint, after: Repaint, found: Counts, at: number): void {
  const was = new Map(before.seen.map((each, index) => [each.name, { ...each, index }]));
  const stayed = after.seen.flatMap((is) => {
    const old = was.get(is.name);
    return old && old.level === is.level ? [{ is, old }] : [];
  });
  const moved = stayed.filter(({ is, old }) => is.place !== old.place || is.size !== old.size).length;
  found.moves += moved;
  if (moved > 0) found.lastMoveMs = at;
  found.overtook += stayed.length - longestRun(stayed.map(({ old }) => old.index));
  const isSame = stayed.length === before.seen.length && stayed.length === after.seen.length;
  if (isSame) found.withoutReason += moved;
}

/** The length of the longest rising part, in which others may stand between. */
function longestRun(order: readonly number[]): number {
  const longest: number[] = [];
  for (const [at, index] of order.entries())
    longest.push(
      1 + Math.max(0, ...order.slice(0, at).flatMap((other, i) => (other < index ? (longest[i] ?? 0) : []))),
    );
  return Math.max(0, ...longest);
}
