import i18next from 'i18next';
import { expect, test } from 'vitest';
import { actorFrom, actorText } from './actor.ts';

test('a key or token as author reads in the reader’s language, and is found by what is shown', async () => {
  const texts = {
    'actor.key': 'Schlüssel {{name}}',
    'actor.token': 'Token {{name}}',
    'actor.retention': 'Belfry',
    'actor.cli': 'Befehlszeile',
  };
  await i18next.init({ lng: 'de', keySeparator: false, resources: { de: { translation: texts } } });
  expect(actorText('key on-call bot')).toBe('Schlüssel on-call bot');
  expect(actorText('retention')).toBe('Belfry');
  expect(actorText('cli')).toBe('Befehlszeile');
  for (const actor of [
    'key on-call bot',
    'token ci',
    'cli',
    'retention',
    'ann@example.org',
    'keys@example.org',
  ])
    expect(actorFrom(actorText(actor))).toBe(actor);
});
