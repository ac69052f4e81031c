import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What takes longest, so that no file of these runs alone at the end. */
const slow = [
  'torture/nodes/nodes.test.ts',
  'browser/dashboard-look.test.ts',
  'torture/secrets/terminals.test.ts',
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
  'torture/crash/disk.test.ts',
  'browser/panel-life.test.ts',
  'start.test.ts',
];

/** Begins with the files that take longest. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const found = slow.findIndex((name) => moduleId.endsWith(name));
      return found < 0 ? slow.length : found;
    };
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b));
  }
}
