import { describe, expect, test } from 'vitest';
import { problemsOf } from '#test/support/config-problems.ts';
import { readConfig } from './config.ts';

describe('the settings of MQTT', () => {
  const token = { BELFRY_MQTT_TOKEN: 'bfy_x' };
  test.each<[Record<string, string>, RegExp]>([
    [{ ...token, BELFRY_MQTT_URL: 'http://a:hunter2@b' }, /^BELFRY_MQTT_URL must be mqtt: or mqtts:/],
    [{ ...token, BELFRY_MQTT_URL: 'mqtt://b/topic' }, /^BELFRY_MQTT_URL must be mqtt: or mqtts:/],
    [{ BELFRY_MQTT_URL: 'mqtt://b' }, /^BELFRY_MQTT_TOKEN is needed/],
    ...['a#', 'a/+b', '#/a', ' , ', '$share/g/a'].map((filter): [Record<string, string>, RegExp] => [
      { BELFRY_MQTT_TOPICS: filter },
      /^BELFRY_MQTT_TOPICS is .* must be topic filters/,
    ]),
    [{ BELFRY_MQTT_CLIENT_ID: 'a b' }, /^BELFRY_MQTT_CLIENT_ID is .* must be 1 to 64 letters/],
  ])('%j is one problem, without the password', (env, problem) => {
    expect(problemsOf(env)).toEqual([expect.stringMatching(problem)]);
    expect(problemsOf(env).join()).not.toContain('hunter2');
  });

  test('name a broker, and topics', () => {
    const { listeners, effective } = readConfig({
      ...{ ...token, BELFRY_MQTT_URL: 'mqtts://u:hunter2@b' },
      BELFRY_MQTT_TOPICS: 'a/#, +/b,#',
    });
    expect(listeners?.mqtt).toEqual({
      ...{ url: 'mqtts://u:hunter2@b', topics: ['a/#', '+/b', '#'], token: 'bfy_x', clientId: 'belfry' },
    });
    expect(JSON.stringify(effective)).not.toContain('hunter2');
  });
});
