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
  /** All that it says of how many they are. */
  readonly text: string;
  readonly isRow: boolean;
  /** Its level, and whether somebody takes care of it. */
  readonly level: string;
  readonly place: string;
  readonly size: string;
}

export interface Repaint {
  readonly at: number;
  /** In reading order; only what is inside the window. */
  readonly seen: readonly Seen[];
  /** There are rows or groups: not all have room as cards. */
  readonly isFlood: boolean;
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
        // Not the place on the screen, which the motion of an arriving card changes.
        const { offsetLeft, offsetTop, offsetWidth, offsetHeight, style, classList } = root;
        return [
          {
            name: root.querySelector('h2, .common, .what')?.textContent ?? '',
            text: root.querySelector('h2, .heading, b')?.textContent ?? '',
            isRow: classList.contains('row'),
            level: `${style.getPropertyValue('--fill')}${classList.contains('done') ? ' done' : ''}`,
            place: `${offsetLeft} ${offsetTop}`,
            size: `${offsetWidth} ${offsetHeight} ${style.getPropertyValue('--z')}`,
          },
        ];
      });
      repaints.push({ at: performance.now(), seen, isFlood: cards.querySelector('.rows, .group') !== null });
    };
    read();
    const everything = { subtree: true, childList: true, attributes: true, characterData: true };
    new MutationObserver(read).observe(cards, everything);
    Object.assign(window, { repaints });
  });
}

export const repaintsOf = (page: Page): Promise<Repaint[]> =>
  page.evaluate(() => (window as unknown as { repaints: Repaint[] }).repaints);

/** What a person in front of the wall sees as restless; all but the last three should be 0. */
export interface Restlessness {
  /** Things that came before others behind which they stood, although no level has changed and cards have not become rows. */
  readonly overtook: number;
  /** Things that moved or changed their size although the same ones stand there, as cards and as rows. */
  readonly withoutReason: number;
  /** Kinds that fell apart into single alarms after they had been one. */
  readonly fellApart: number;
  /** Rows that became cards soon after cards had become rows. */
  readonly grewEarly: number;
  /** Rows and groups were there, gone, and there again. */
  readonly floodedAgain: number;
  /** Things that were back at a place and size within three seconds: while new kinds come, these may cause it. */
  readonly cameBack: number;
  /** All moves. */
  readonly moves: number;
  /** From the first repaint to the last move. */
  readonly lastMoveMs: number;
}

const backMs = 3_000;
/** A second less than the page waits. */
const growAfterMs = 14_000;

export function restlessnessOf(repaints: readonly Repaint[]): Restlessness {
  const steps = repaints.slice(1).map((after, i) => stepOf(repaints[i] as Repaint, after));
  const sum = (count: (step: Step) => number) => steps.reduce((total, step) => total + count(step), 0);
  const last = steps.findLast(({ moves }) => moves > 0);
  return {
    overtook: sum(({ overtook }) => overtook),
    withoutReason: sum(({ withoutReason }) => withoutReason),
    fellApart: kindsFallenApart(repaints),
    grewEarly: earlyGrowths(repaints),
    floodedAgain: Math.max(0, sum(({ begins }) => (begins ? 1 : 0)) - 1),
    cameBack: returns(repaints),
    moves: sum(({ moves }) => moves),
    lastMoveMs: last ? last.at - (repaints[0]?.at ?? 0) : 0,
  };
}

interface Step extends Pick<Restlessness, 'overtook' | 'withoutReason' | 'moves'> {
  readonly at: number;
  /** Of a flood. */
  readonly begins: boolean;
}

const cardsIn = ({ seen }: Repaint) => seen.filter(({ isRow }) => !isRow).length;

function stepOf(before: Repaint, after: Repaint): Step {
  const was = new Map(before.seen.map((each, index) => [each.name, { ...each, index }]));
  const stayed = after.seen.flatMap((is) => {
    const old = was.get(is.name);
    return old && old.level === is.level ? [{ is, old }] : [];
  });
  const isMoved = ({ is, old }: (typeof stayed)[number]) => is.place !== old.place || is.size !== old.size;
  const moves = stayed.filter(isMoved).length;
  // On a page that scrolls, what grows with its own text moves what is below it.
  const grown = stayed.findIndex(({ is, old }) => is.size !== old.size && is.text !== old.text);
  const unmoved = grown < 0 ? stayed : stayed.slice(0, grown);
  const isSame =
    stayed.length === before.seen.length &&
    stayed.length === after.seen.length &&
    cardsIn(before) === cardsIn(after);
  const isNewLayout = before.isFlood !== after.isFlood;
  return {
    at: after.at,
    begins: isNewLayout && after.isFlood,
    moves,
    withoutReason: isSame ? unmoved.filter(isMoved).length : 0,
    overtook: isNewLayout ? 0 : stayed.length - longestRise(stayed.map(({ old }) => old.index)),
  };
}

/** The length of the longest rising part, between whose numbers others may stand. */
function longestRise(order: readonly number[]): number {
  const longest: number[] = [];
  for (const [at, index] of order.entries()) {
    const before = longest.filter((_, i) => i < at && (order[i] ?? index) < index);
    longest.push(1 + Math.max(0, ...before));
  }
  return Math.max(0, ...longest);
}

function kindsFallenApart(repaints: readonly Repaint[]): number {
  const grouped = new Set<string>();
  let fallen = 0;
  for (const { seen } of repaints) {
    const names = new Set(seen.map(({ name }) => name));
    for (const kind of grouped) {
      const single = seen.filter(({ name }) => name.startsWith(`${kind} `)).length;
      if (names.has(kind) || single < 2) continue;
      fallen += 1;
      grouped.delete(kind);
    }
    for (const name of names) if (subjects.includes(name)) grouped.add(name);
  }
  return fallen;
}

function earlyGrowths(repaints: readonly Repaint[]): number {
  let shrunkAt = Number.NEGATIVE_INFINITY;
  let growths = 0;
  for (const [i, after] of repaints.entries()) {
    const before = repaints[i - 1];
    if (!before?.isFlood || !after.isFlood) continue;
    const grown = cardsIn(after) - cardsIn(before);
    if (grown < 0) shrunkAt = after.at;
    if (grown > 0 && after.at - shrunkAt < growAfterMs) growths += 1;
  }
  return growths;
}

function returns(repaints: readonly Repaint[]): number {
  const past = new Map<string, { where: string; until: number }[]>();
  let count = 0;
  for (const { at, seen } of repaints)
    for (const { name, place, size } of seen) {
      const where = `${place} ${size}`;
      const places = past.get(name) ?? [];
      const last = places[places.length - 1];
      if (last?.where === where) last.until = at;
      else {
        if (places.some((each) => each.where === where && at - each.until < backMs)) count += 1;
        places.push({ where, until: at });
      }
      past.set(name, places);
    }
  return count;
}
