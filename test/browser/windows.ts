/** Browser windows of tests at one server. */
import type { Browser, BrowserContext, BrowserContextOptions, CDPSession, Page } from 'playwright-core';

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

interface Opened extends Omit<Window, 'close'> {
  readonly devtools: CDPSession;
}

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
      const { colorScheme = 'light', reducedMotion = 'no-preference', viewport } = options;
      await opened.page.emulateMedia({ colorScheme, reducedMotion });
      if (viewport) await opened.page.setViewportSize(viewport);
      this.#idle.set(kind, [...(this.#idle.get(kind) ?? []), opened]);
    };
    const { page, context } = opened;
    return { page, context, close };
  }

  async #new(options: BrowserContextOptions): Promise<Opened> {
    const context = await this.#browser.newContext(options);
    context.setDefaultTimeout(120_000);
    const page = await context.newPage();
    return { context, page, devtools: await context.newCDPSession(page) };
  }

  async #clear({ context, page, devtools }: Opened): Promise<void> {
    for (const event of watched) page.removeAllListeners(event);
    await Promise.all(context.pages().map((other) => other !== page && other.close()));
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await this.#leave(page, devtools);
    await page.evaluate(() => {
      localStorage.clear();
      sessionStorage.clear();
    });
    await context.clearCookies();
    await context.setOffline(false);
    await page.mouse.move(0, 0);
  }

  /** To an empty page of the origin. Not by `page.route`, with which the browser would forget all that it has in its cache. */
  async #leave(page: Page, devtools: CDPSession): Promise<void> {
    const url = `${this.#origin}/empty`;
    // With the opener policy of the server's own pages, as a page with another one gets a new process.
    const responseHeaders = [
      { name: 'content-type', value: 'text/html' },
      { name: 'cross-origin-opener-policy', value: 'same-origin' },
    ];
    devtools.once('Fetch.requestPaused', ({ requestId }) =>
      devtools.send('Fetch.fulfillRequest', { requestId, responseCode: 200, responseHeaders, body: '' }),
    );
    await devtools.send('Fetch.enable', { patterns: [{ urlPattern: url }] });
    await page.goto(url);
    await devtools.send('Fetch.disable');
  }
}
