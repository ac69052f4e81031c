import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The slowest files, which run first, so that none of them runs alone at the end. */
const slow = [
  'torture/nodes/nodes.test.ts',
  'browser/dashboard-look.test.ts',
  'browser/history.test.ts',
  'torture/control/defects.test.ts',
  'conformance/history.postgres.test.ts',
  'browser/rules-page.test.ts',
  'browser/overview.test.ts',
  'browser/panel-trust.test.ts',
  'browser/people.test.ts',
  'browser/panels.test.ts',
  'conformance/directory.postgres.test.ts',
  'conformance/history.sqlite.test.ts',
  'torture/nodes/bus.test.ts',
  'e2e/tenants.test.ts',
  'e2e/cli-backup.test.ts',
  'torture/crash/power.test.ts',
  'torture/crash/disk.test.ts',
  'torture/crash/kill.test.ts',
  'torture/operations/ready.test.ts',
  'torture/clock/clock.test.ts',
  'torture/input/fuzz.test.ts',
  'e2e/channels-answers-telegram.test.ts',
  'e2e/main-path.test.ts',
  'e2e/channels-answers-alertmanager.test.ts',
  'browser/panel-life.test.ts',
  'start.test.ts',
];

/** The last one has the most short files, so that all workers end at about the same time. */
const projects = ['e2e-postgres', 'unit', 'browser', 'e2e'];

/**
 * Project by project, because a worker only continues with files of its own project: another project needs a new process. Within
 * a project the slowest files come first.
 */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ project, moduleId }: TestSpecification) => {
      const found = slow.findIndex((name) => moduleId.endsWith(name));
      return projects.indexOf(project.name) * (slow.length + 1) + (found < 0 ? slow.length : found);
    };
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b));
  }
}
