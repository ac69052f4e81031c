/** What a screen needs that runs unattended for months: it stays awake, does not burn in, and loads new versions. */
import { withTimeLimit } from '#client/call.ts';

/** Asks the browser to keep the screen on, again each time the page comes back into view. */
export function keepAwake(): void {
  const ask = () => {
    if (document.visibilityState !== 'visible' || !('wakeLock' in navigator)) return;
    // Refused on a low battery, or without https: the screen's own settings decide then.
    navigator.wakeLock.request('screen').catch(() => undefined);
  };
  document.addEventListener('visibilitychange', ask);
  ask();
}

const shiftEveryMs = 3 * 60_000;
const shifts = [
  [0, 0],
  [3, 1],
  [4, 4],
  [1, 3],
  [-2, 4],
  [-4, 2],
  [-3, -2],
  [0, -4],
  [3, -3],
] as const;

/** Where the picture stands at a time, in pixels off its place: no edge burns in. */
export function pixelShift(at: number): readonly [x: number, y: number] {
  return shifts[Math.floor(at / shiftEveryMs) % shifts.length] ?? shifts[0];
}

const leastBetweenVersionsMs = 10 * 60_000;
const versionKey = 'belfry.reloaded';
/** Repeated commands must not keep the screen from showing anything. */
const leastBetweenCommandsMs = 60_000;
const commandKey = 'belfry.told-to-reload';
const answerMs = 15_000;

/** Reloads the page and keeps the pairing. Does nothing, and returns false, within a minute of the last command. */
export function reloadOnCommand(): boolean {
  if (wasWithin(leastBetweenCommandsMs, commandKey)) return false;
  sessionStorage.setItem(commandKey, String(Date.now()));
  location.reload();
  return true;
}

/** Reloads the page if the server has another version of it; called when the server was away. */
export async function reloadIfNew(): Promise<void> {
  const own = document.querySelector<HTMLScriptElement>('script[src*="/assets/"]');
  if (!own) return;
  const html = await withTimeLimit(answerMs, undefined, async (signal) => {
    const response = await fetch(location.pathname, { cache: 'no-cache', signal });
    return response.ok ? response.text() : '';
  });
  // A proxy's page, or an error, is no new version.
  if (!html.includes('/assets/panel-') || html.includes(new URL(own.src).pathname)) return;
  if (wasWithin(leastBetweenVersionsMs, versionKey)) return;
  sessionStorage.setItem(versionKey, String(Date.now()));
  location.reload();
}

/** A time in the future was stored before the clock was set back; it does not count. */
function wasWithin(ms: number, key: string): boolean {
  const ago = Date.now() - Number(sessionStorage.getItem(key) ?? 0);
  return ago >= 0 && ago < ms;
}
