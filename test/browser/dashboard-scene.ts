/** One picture of the dashboard: what is there, which page is open, and what was done on it. */
import type { Page } from 'playwright-core';
import type { Role } from '#contract/people/token.ts';
import type { DashboardLab } from './dashboard-lab.ts';

export interface DashboardScene {
  readonly name: string;
  /** Behind /t/default/. */
  readonly path: string;
  readonly role?: Role;
  readonly act?: (page: Page) => Promise<void>;
}

/** Scenes of one server, which `fill` gives something to show. */
export interface DashboardScenes {
  readonly name: string;
  readonly fill: (lab: DashboardLab) => Promise<void>;
  readonly scenes: readonly DashboardScene[];
}
