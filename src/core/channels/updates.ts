/**
 * Which events of an alarm go to a channel that had a notification of it. An event is an entry of the log, and its delivery is written
 * in the same commit. What came from a channel does not go back to it.
 */
import {
  type AlarmEvent,
  alarmEvents,
  type ChannelKind,
  channelFields,
  channelKinds,
} from '#contract/channels/channel-fields.ts';
import type { AlarmAction } from '../log/log.ts';

const eventOfAction: Readonly<Record<AlarmAction['kind'], AlarmEvent | undefined>> = {
  acknowledge: 'acknowledged',
  unacknowledge: 'unacknowledged',
  shelve: 'shelved',
  unshelve: 'unshelved',
  clear: 'ended',
  assign: undefined,
};

/** undefined: channels do not get this. */
export const eventOf = ({ kind }: Pick<AlarmAction, 'kind'>): AlarmEvent | undefined => eventOfAction[kind];

/** By kind of channel: the values of {@link updatesOf} that take an event. */
type WantedUpdates = Readonly<Partial<Record<ChannelKind, readonly string[]>>>;

/** Events API v2 of PagerDuty has no other. */
const eventsOfPagerduty: readonly AlarmEvent[] = ['acknowledged', 'shelved', 'ended'];

function wanted(event: AlarmEvent): WantedUpdates {
  const values = event === 'ended' ? ['all', 'ends'] : ['all'];
  return Object.fromEntries(
    channelKinds.map((kind) => {
      if (kind === 'mqtt') return [kind, ['state']];
      if (kind === 'pagerduty' && !eventsOfPagerduty.includes(event)) return [kind, []];
      const usual = channelFields[kind].find(({ name }) => name === 'updates')?.choices?.[0];
      return [kind, usual !== undefined && values.includes(usual) ? [...values, ''] : values];
    }),
  );
}

/** By event. */
export const wantedUpdates = Object.fromEntries(
  alarmEvents.map((event) => [event, wanted(event)]),
) as Readonly<Record<AlarmEvent, WantedUpdates>>;

/** What a channel is set to, as {@link WantedUpdates} has it: `state` is that of MQTT with a topic for states, empty the default. */
export const updatesOf = ({ updates, stateTopic }: Readonly<Record<string, string>>): string =>
  updates ?? (stateTopic === undefined ? '' : 'state');
