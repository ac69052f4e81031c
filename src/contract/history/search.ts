import { type Static, Type } from 'typebox';
import { OnCallSummary } from '../routing/on-call.ts';
import { closed, component, Instant, Name, nullable } from '../schema.ts';
import { alarmsTabs } from './alarm-states.ts';
import { labelFieldPattern } from './labels.ts';

const alarms = Type.Optional(
  closed(
    {
      tab: Type.Enum([...alarmsTabs]),
      group: Type.String({
        pattern: `^(similar|host|none|${labelFieldPattern.source.slice(1, -1)})$`,
        errorMessage: 'must be similar, host, none, or a label, as in label:site',
      }),
    },
    {
      description:
        'How the page Alarms shows it: the tab, and by what alarms are grouped. Absent: a search of history.',
    },
  ),
);

/** A search kept under a name for the whole tenant. */
export const SavedSearch = component('SavedSearch', {
  id: Type.String(),
  name: Type.String(),
  q: Type.String(),
  alarms,
  createdAt: Instant,
  createdBy: Type.String(),
});
export type SavedSearch = Static<typeof SavedSearch>;

export const SavedSearchPut = component('SavedSearchPut', {
  name: Name,
  q: Type.String({ maxLength: 2000 }),
  alarms,
});
export type SavedSearchPut = Static<typeof SavedSearchPut>;
export const SavedSearchList = component('SavedSearchList', { searches: Type.Array(SavedSearch) });

const Counts = Type.Record(Type.String(), Type.Integer({ minimum: 0 }), {
  description: 'By level; levels without any are left out.',
});

/** Why an answer to a sender was not "accepted". Bounded: free text never becomes a label of a metric. */
export const rejectionReasons = [
  'invalid',
  'too-large',
  'unsupported-type',
  'forbidden',
  'rate-limited',
  'conflict',
  'unavailable',
  'internal',
] as const;
export type RejectionReason = (typeof rejectionReasons)[number];

export const CountBucket = component('CountBucket', { at: Instant, counts: Counts });
export type CountBucket = Static<typeof CountBucket>;

export const Overview = component('Overview', {
  serverTime: Instant,
  minutes: Type.Array(CountBucket, {
    description: 'The last 60 minutes, oldest first, the running one last; none is left out.',
  }),
  received24h: Type.Integer({
    minimum: 0,
    description: 'At least so many: counting ends after half a second, which is enough for tens of millions.',
  }),
  panels: closed({ online: Type.Integer(), total: Type.Integer(), behind: Type.Integer() }),
  rejections: Type.Array(closed({ reason: Type.Enum([...rejectionReasons]), count: Type.Integer() }), {
    description: 'Since `countedSince`, the most frequent first; reasons without any are left out.',
  }),
  countedSince: Instant,
  topHosts: Type.Array(
    closed({
      host: Type.String(),
      count: Type.Integer(),
      level: Type.String({ description: 'The highest.' }),
    }),
    {
      description:
        'Of the last 24 h, or of the newest 10,000 notifications where those are fewer; at most ten.',
    },
  ),
  live: Type.Record(Type.String(), Type.Integer(), {
    description: 'What panels should show now, by level, also while no screen is connected.',
  }),
  onCall: Type.Array(OnCallSummary, { description: 'Who is on call, of each on-call schedule by name.' }),
});
export type Overview = Static<typeof Overview>;

export const Histogram = component('Histogram', {
  buckets: Type.Array(CountBucket, { description: 'Oldest first, of one length, none left out.' }),
  bucketMs: Type.Integer({ minimum: 1 }),
  total: Type.Integer({ minimum: 0 }),
  searchedTo: nullable(Instant, {
    description:
      'Set when counting ran out of time: only what was received since then is counted. Otherwise null.',
  }),
});
export type Histogram = Static<typeof Histogram>;

export const FieldValues = component('FieldValues', { values: Type.Array(Type.String()) });
