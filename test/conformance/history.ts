import { afterAll, beforeAll, describe } from 'vitest';
import { acknowledgingConformance } from './history-acknowledging.ts';
import { alarmsConformance } from './history-alarms.ts';
import { answersConformance } from './history-answers.ts';
import { clearingConformance } from './history-clearing.ts';
import { escalationsConformance } from './history-escalations.ts';
import { intakeConformance } from './history-intake.ts';
import { type HistoryDatabase, type HistoryLab, newTenant, type OpenHistory } from './history-lab.ts';
import { liveConformance } from './history-live.ts';
import { logConformance } from './history-log.ts';
import { loopConformance } from './history-loop.ts';
import { receiptsConformance } from './history-receipts.ts';
import { replacingConformance } from './history-replacing.ts';
import { retentionConformance } from './history-retention.ts';
import { retentionClockConformance } from './history-retention-clock.ts';
import { retriesConformance } from './history-retries.ts';
import { searchConformance } from './history-search.ts';
import { suppressConformance } from './history-suppress.ts';
import { updatesConformance } from './history-updates.ts';

/** Every promise of the ports `History` and `ReceiptStore`, to be run against every backend. */
export function historyConformance(backend: string, open: OpenHistory): void {
  describe(`history on ${backend}`, () => {
    let database: HistoryDatabase;
    beforeAll(async () => {
      database = await open();
    });
    afterAll(() => database.close());

    const lab = (): HistoryLab => ({ database, open, newTenant: () => newTenant(database) });
    const suites: Record<string, (lab: () => HistoryLab) => void> = {
      'the log': logConformance,
      'retry keys': retriesConformance,
      'intake in parallel': intakeConformance,
      replacing: replacingConformance,
      clearing: clearingConformance,
      acknowledging: acknowledgingConformance,
      alarms: alarmsConformance,
      'suppressed alarms': suppressConformance,
      escalations: escalationsConformance,
      'what channels are told': updatesConformance,
      'what comes back from channels': answersConformance,
      'the live set': liveConformance,
      'finding and searching': searchConformance,
      'a loop over the list': loopConformance,
      receipts: receiptsConformance,
      retention: retentionConformance,
      'retention by a clock that was wrong': retentionClockConformance,
    };
    for (const [name, suite] of Object.entries(suites)) describe(name, () => suite(lab));
  });
}
