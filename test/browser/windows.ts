/** Browser windows of tests at one server. */
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';

export interface Window {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Ends the window, its cookies and what its pages have stored. */
  close(): Promise<void>;
}

export interface WindowOptions extends BrowserContextOptions {
  /** No later test gets the page: for what a page keeps, such as a fake clock or a script that runs in each document. */
  readonly usedOnce?: boolean;
}

type Opened = Omit<Window, 'close'>;

const watched = ['console', 'dialog', 'pageerror', 'request', 'requestfailed', 'requestfinished'] as const;

/**
 * Each open window has a browser context of its own. A closed one leaves its page, without cookies and storage, to the
 * next one with the same options: loading the dashboard then takes an eighth of the processor time, because the files are in
 * the cache of the context and the scripts are compiled in the process of the page.
 */
export class Windows {
  readonly #browser: Browser;
  readonly #origin: string;
  readonly #idle = new Map<string, Opened[]>();

  /** @param origin The server's. */
  constructor(browser: Browser, origin: string) {
    this.#browser = browser;
    this.#origin = origin;
  }

  async open({ usedOnce = false, ...options }: WindowOptions = {}): Promise<Window> {
    const kind = JSON.stringify(options);
    const opened = (usedOnce ? undefined : this.#idle.get(kind)?.pop()) ?? (await this.#new(options));
    const close = async () => {
      if (usedOnce) return opened.context.close();
      await this.#clear(opened);
      const { colorScheme = 'light', reducedMotion = 'no-preference' } = options;
      await opened.page.emulateMedia({ colorScheme, reducedMotion });
      this.#idle.set(kind, [...(this.#idle.get(kind) ?? []), opened]);
    };
    return { ...opened, close };
  }

  async #new(options: BrowserContextOptions): Promise<Opened> {
    const context = await this.#browser.newContext(options);
    context.setDefaultTimeout(30_000);
    return { context, page: await context.newPage() };
  }

  async #clear({ context, page }: Opened): Promise<void> {
    for (const event of watched) page.removeAllListeners(event);
    await Promise.all(context.pages().map((other) => other !== page && other.close()));
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    // With the opener policy of the server's own pages, as a page with another one gets a new process.
    const headers = { 'content-type': 'text/html', 'cross-origin-opener-policy': 'same-origin' };
    await page.route(`${this.#origin}/empty`, (route) => route.fulfill({ headers, body: '' }), { times: 1 });
    await page.goto(`${this.#origin}/empty`);
    await page.evaluate(() => {
      localStorage.clear();
      sessionStorage.clear();
    });
    await context.clearCookies();
    await context.setOffline(false);
    await page.mouse.move(0, 0);
  }
}
