/** What keeps a screen that is on for years awake and whole. */

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
