/** A screen stays open for months: it takes up the page of a newer server by itself. */

const leastMs = 10 * 60_000;
const reloadedKey = 'belfry.reloaded';
/** A server that says so again and again shall not keep the screen from showing anything. */
const leastToldMs = 60_000;
const toldKey = 'belfry.told-to-reload';
const answerMs = 15_000;

/** Loads the page anew because somebody said so; the pairing is kept. False when that was less than a minute ago. */
export function reloadAsTold(): boolean {
  if (wasWithin(leastToldMs, toldKey)) return false;
  sessionStorage.setItem(toldKey, String(Date.now()));
  location.reload();
  return true;
}

/** Loads the page anew when the server's is another than this one; to be called when the server was away. */
export async function reloadWhenNew(): Promise<void> {
  const own = document.querySelector<HTMLScriptElement>('script[src*="/assets/"]');
  if (!own) return;
  const response = await fetch(location.pathname, {
    cache: 'no-cache',
    signal: AbortSignal.timeout(answerMs),
  });
  const html = response.ok ? await response.text() : '';
  // Whatever answers in its place is no reason to leave what works.
  if (!html.includes('/assets/panel-') || html.includes(new URL(own.src).pathname)) return;
  if (wasWithin(leastMs, reloadedKey)) return;
  sessionStorage.setItem(reloadedKey, String(Date.now()));
  location.reload();
}

/** A time ahead of the clock was written before the clock was set back, nobody knows how long ago. */
function wasWithin(ms: number, key: string): boolean {
  const ago = Date.now() - Number(sessionStorage.getItem(key) ?? 0);
  return ago >= 0 && ago < ms;
}
