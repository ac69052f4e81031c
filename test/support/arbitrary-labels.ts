/** Random labels, from few names and values so that they match. */
import fc from 'fast-check';
import { type Labels, labelsText } from '#contract/history/labels.ts';

export const labelNames = ['env', 'Site', 'k8s.io_pod-1', '__proto__', 'constructor'];
export const labelValues = ['prod', 'Prod', 'stag 1', 'plant 2, west=1', 'größe', 'x*y', ''];

export const labels: fc.Arbitrary<Labels> = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...labelNames), fc.constantFrom(...labelValues)), {
    selector: ([name]) => name,
    maxLength: 3,
  })
  .map((entries) => Object.fromEntries(entries));

/** As a notification carries them. */
export const labelsTexts: fc.Arbitrary<string | null> = labels.map(labelsText);
