/** A server, a browser and people at the dashboard, for tests that look at its pages. */
import type { Browser, Page, Request } from 'playwright-core';
import type { Role } from '#contract/people/token.ts';
import { makePerson, sessionCookie, type TestPerson } from '../support/person.ts';
import { TestServer } from '../support/server.ts';
import { closeWindows, sharedBrowser } from './browser.ts';
import { type Window, type WindowOptions, Windows } from './windows.ts';

export interface Desk extends Window {
  readonly person: TestPerson;
  /** What the page's policy refused, and what broke in it. */
  readonly errors: string[];
  /** What the page has asked for and does not have yet; streams, which never end, are none. */
  readonly awaited: ReadonlySet<Request>;
}

export interface DeskOptions extends WindowOptions {
  readonly role?: Role;
  /** Behind /t/<tenant>/, as in history?q=host:db-1. */
  readonly path?: string;
  /** Short name of the tenant; made when there is none. */
  readonly tenant?: string;
  readonly name?: string;
}

export class DashboardLab {
  readonly browser: Browser;
  readonly server: TestServer;
  readonly #windows: Windows;

  private constructor(browser: Browser, server: TestServer) {
    this.browser = browser;
    this.server = server;
    this.#windows = new Windows(browser, server.url);
  }

  /** @param folder Where its database is already, when there is one. */
  static async start(
    browserPath: string,
    env: Record<string, string> = {},
    folder?: string,
  ): Promise<DashboardLab> {
    const [browser, server] = await Promise.all([sharedBrowser(browserPath), TestServer.start(env, folder)]);
    return new DashboardLab(browser, server);
  }

  /** Opens a page of the dashboard as a new person of that role, signed in. */
  async desk({
    role = 'owner',
    path = 'overview',
    tenant = 'default',
    name = 'Ada Byron',
    ...options
  }: DeskOptions = {}): Promise<Desk> {
    const person = await makePerson(this.server, role, { tenant, name });
    const window = await this.window(options);
    const { page, context } = window;
    const [cookieName = '', value = ''] = (await sessionCookie(this.server, person)).split('=', 2);
    await context.addCookies([{ name: cookieName, value, url: this.server.url }]);
    await page.goto(`${this.server.url}/t/${tenant}/${path}`);
    await page.locator('main h1').waitFor({ state: 'attached' });
    return { ...window, person };
  }

  /** A browser's window of somebody who is not signed in. Nothing in it moves, unless `reducedMotion` says so. */
  async window(options: WindowOptions = {}): Promise<Omit<Desk, 'person'>> {
    const window = await this.#windows.open({
      viewport: { width: 1440, height: 900 },
      reducedMotion: 'reduce',
      ...options,
    });
    return { ...window, errors: watchConsole(window.page), awaited: watchRequests(window.page) };
  }

  async close(): Promise<void> {
    await closeWindows(this.browser);
    await this.server.stop();
  }
}

function watchRequests(page: Page): ReadonlySet<Request> {
  const awaited = new Set<Request>();
  page.on('request', (request) => {
    if (request.headers().accept !== 'text/event-stream') awaited.add(request);
  });
  page.on('requestfinished', (request) => awaited.delete(request));
  page.on('requestfailed', (request) => awaited.delete(request));
  return awaited;
}

/** Errors of the page's own, and everything that its policy refused; an answer that is a refusal is none. */
function watchConsole(page: Page): string[] {
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => {
    const text = message.text();
    if (message.type() === 'error' && !text.startsWith('Failed to load resource')) errors.push(text);
  });
  return errors;
}
