import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mapOptionalTexts } from '#contract/history/fields.ts';
import { labelsTexts } from '#test/support/arbitrary-labels.ts';
import { type Job, packJobs, unpackJobs } from './jobs.ts';

const text = fc.string({ unit: 'grapheme' });
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });

const draft = fc.record({
  id: fc.uuid(),
  receivedAt: fc.nat(),
  title: text,
  message: text,
  level: text,
  rank: fc.nat(),
  ttl: fc.nat(),
  sentLevel: text,
  sentTtl: maybe(fc.nat()),
  expiresAt: maybe(fc.nat()),
  ...{ ...mapOptionalTexts(() => maybe(text)), labels: labelsTexts },
  sourceIp: text,
  tokenId: text,
  throttledOn: maybe(fc.uuid()),
  throttleCount: fc.nat(),
  route: fc.constantFrom('{"a":1}', '{"b":2}', '{"c":3}'),
  shown: fc.boolean(),
});
const job: fc.Arbitrary<Job> = fc.oneof(
  fc.tuple(
    fc.constant('append' as const),
    fc.nat(),
    draft,
    maybe(fc.record({ key: text, hash: text })),
    maybe(fc.record({ escalation: maybe(text), step: fc.nat(), replaces: maybe(text) })),
  ),
  fc.tuple(fc.constant('sweep' as const), fc.nat(), fc.array(fc.nat())),
  fc.tuple(fc.constant('clear' as const), fc.nat(), text, fc.record({ by: text, at: fc.nat() })),
);

describe('a batch between threads', () => {
  it('arrives as it was sent, whatever is in it', () => {
    fc.assert(
      fc.property(fc.array(job), (jobs) => {
        expect(unpackJobs(structuredClone(packJobs(jobs)))).toEqual(jobs);
      }),
    );
  });
});
