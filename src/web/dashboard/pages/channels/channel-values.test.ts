import type { TFunction } from 'i18next';
import { expect, test } from 'vitest';
import { ApiError } from '#client/call.ts';
import type { Channel } from '#contract/channels/channel.ts';
import type { ChannelKind } from '#contract/channels/channel-fields.ts';
import { refusedField, valuesOf } from './channel-values.ts';

const t = ((key: string) => key) as unknown as TFunction<'channels'>;

function refused(kind: ChannelKind, path: string, value: string, secrets: string[] = []) {
  const [part, name = ''] = path.split('.');
  const place = { pointer: `/${part}/${name}` };
  const values = { ...valuesOf(undefined), kind };
  return refusedField(
    new ApiError(400, `${path}: must be something`, { code: 'bad-request', place }),
    { ...values, fields: { ...values.fields, [name]: value } },
    { secrets } as unknown as Channel,
    t,
  );
}

test.each([
  ['webhook', 'settings.url', 'x', 'wrong.url'],
  ['email', 'settings.to', 'x', 'wrong.emails'],
  ['ntfy', 'settings.topic', 'a b', 'wrong.ntfy.topic'],
  ['mqtt', 'settings.url', 'http://x', 'wrong.mqtt.url'],
  ['mqtt', 'settings.stateTopic', 'alarms', 'wrong.mqtt.stateTopic'],
  ['alertmanager', 'settings.labels', 'a', 'wrong.alertmanager.labels'],
  ['email', 'secrets.password', '', 'needed'],
  ['gotify', 'secrets.token', 'x', 'Must be something'],
] as const)('what is right in a field is said at it: %s %s', (kind, path, value, text) => {
  expect(refused(kind, path, value)).toEqual({ path: `fields.${path.split('.')[1]}`, text });
});

test('a secret that the channel has must be entered again when its address changes', () => {
  expect(refused('gotify', 'secrets.token', '', ['token'])?.text).toBe('neededAgain');
});

test('an error that is about no field of a kind is not shown at one', () => {
  expect(refusedField(new ApiError(409, 'conflict'), valuesOf(undefined), undefined, t)).toBeUndefined();
});
