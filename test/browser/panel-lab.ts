/** A server, a browser and a paired screen, for tests that look at the panel page. */
import type { Browser, Page } from 'playwright-core';
import { TestServer } from '../support/server.ts';
import { closeWindows, sharedBrowser } from './browser.ts';
import { type Window, type WindowOptions, Windows } from './windows.ts';

export interface Screen extends Window {
  readonly panelId: string;
  readonly token: string;
  /** What the page's policy refused, and what broke in it. */
  readonly errors: string[];
}

export interface ScreenOptions extends WindowOptions {
  readonly name?: string;
  /** Appended to /panel. */
  readonly query?: string;
}

export class PanelLab {
  readonly browser: Browser;
  server: TestServer;
  readonly #windows: Windows;

  private constructor(browser: Browser, server: TestServer) {
    this.browser = browser;
    this.server = server;
    this.#windows = new Windows(browser, server.url);
  }

  static async start(
    browserPath: string,
    env: Record<string, string> = {},
    flags: readonly string[] = [],
  ): Promise<PanelLab> {
    const [browser, server] = await Promise.all([sharedBrowser(browserPath, flags), TestServer.start(env)]);
    return new PanelLab(browser, server);
  }

  /** Opens the page of a panel that is paired already, and waits for its first word from the server. */
  async screen({ name = 'NOC east wall', query = '', ...options }: ScreenOptions = {}): Promise<Screen> {
    const token = await this.server.token({ scopes: ['panel'] });
    const { json } = await this.server.call('POST', '/api/panels', { token, json: { name } });
    const window = await this.window(options);
    const { page } = window;
    const pairing = { token, panelId: json.id as string, panelName: name };
    const script = await page.addInitScript(
      (stored) => localStorage.getItem('belfry.panel') ?? localStorage.setItem('belfry.panel', stored),
      JSON.stringify(pairing),
    );
    await page.goto(`${this.server.url}/panel${query}`);
    await page.locator('header[data-health="online"]').waitFor();
    const close = async () => {
      await script.dispose();
      await window.close();
    };
    return { ...window, close, panelId: pairing.panelId, token };
  }

  /** A browser's window on a wall, which nobody has paired. */
  async window(options: WindowOptions = {}): Promise<Omit<Screen, 'panelId' | 'token'>> {
    const window = await this.#windows.open({ viewport: { width: 1920, height: 1080 }, ...options });
    return { ...window, errors: watchErrors(window.page) };
  }

  /** Takes everything off every panel. */
  async clearAll(): Promise<void> {
    const token = await this.server.key('admin');
    const { json } = await this.server.call('GET', '/api/history?limit=200&q=is:live,suppressed', { token });
    for (const { id } of json.notifications)
      await this.server.call('POST', `/api/notifications/${id}/clear`, { token });
  }

  async stop(): Promise<void> {
    await closeWindows(this.browser);
    await this.server.stop();
  }
}

/** Errors, and everything that the page's policy refused. */
function watchErrors(page: Page): string[] {
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(`error: ${error.message}`));
  page.on('console', (message) => {
    const text = message.text();
    if (/Content Security Policy|TrustedHTML|TrustedScript/i.test(text)) errors.push(`policy: ${text}`);
  });
  page.on('dialog', (dialog) => {
    errors.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return errors;
}
