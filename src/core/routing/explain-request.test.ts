import { expect, test } from 'vitest';
import { levels } from '#test/support/arbitrary-rules.ts';
import { recorded } from '#test/support/recorded.ts';
import { ruleSpecWith } from '#test/support/rule-spec.ts';
import type { HistoryRecord } from '../log/log.ts';
import type { Directory } from '../tenants/directory.ts';
import type { TenantSnapshot } from '../tenants/tenancy.ts';
import { Explainer } from './explain.ts';
import { traceOf } from './explain-request.ts';
import { notSuppressed } from './explain-suppressed.ts';
import { compileRules } from './rules.ts';

test('the rules of one earlier revision are kept, the last requested', async () => {
  const rulesOf = (revision: number) => [ruleSpecWith({ id: `r${revision}`, then: { panels: 'all' } })];
  const read: number[] = [];
  const setAt = async (_: number, revision: number) => {
    read.push(revision);
    return { revision, rules: rulesOf(revision) };
  };
  const services = {
    directory: { rules: { setAt } as unknown as Directory['rules'] },
    explainer: new Explainer(() => 0),
  };
  const router = compileRules({ revision: 3, rules: rulesOf(3) }, { levels });
  const snapshot = { record: { id: 1 }, router, levels } as unknown as TenantSnapshot;
  const trace = async (revision: number) => {
    const { route, ...others } = recorded(1);
    const record = { ...others, route: { ...route, revision } } as HistoryRecord;
    return (await traceOf(services, snapshot, record, notSuppressed))?.map(({ id }) => id);
  };
  for (const revision of [1, 1, 3, 1, 2, 2, 1]) expect(await trace(revision)).toEqual([`r${revision}`]);
  expect(read).toEqual([1, 2, 1]);
  expect(await Promise.all([2, 2, 1, 2].map(trace))).toEqual([['r2'], ['r2'], ['r1'], ['r2']]);
  expect(read).toEqual([1, 2, 1, 2, 1, 2]);
});
