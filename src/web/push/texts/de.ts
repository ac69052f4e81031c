import type { PushTexts } from './en.ts';

/** Everything the page of a device says, in German. */
export const de: PushTexts = {
  title: 'Benachrichtigungen auf diesem Gerät',
  offer: 'Dieses Gerät erhält, was Belfry an „{{channel}}“ von {{tenant}} sendet.',
  name: 'Name dieses Geräts',
  turnOn: 'Benachrichtigungen einschalten',
  on: 'Ein: {{channel}} · {{tenant}}',
  lastDelivered: 'Letzte Meldung {{at}}.',
  nothingYet: 'Noch keine Meldung.',
  test: 'Test senden',
  tested: 'Gesendet. Die Meldung kommt in wenigen Sekunden an.',
  testFailed: 'Nicht gesendet: {{reason}}',
  turnOff: 'Ausschalten',
  off: 'Benachrichtigungen sind aus.',
  enterLink: 'Link von der Seite des Kanals',
  enterLinkHint: 'In Belfry den Push-Kanal öffnen und „Gerät hinzufügen“ wählen.',
  openLink: 'Weiter',
  notALink: 'Das ist kein Link von der Seite des Kanals.',
  linkOver: 'Dieser Link wurde benutzt oder ist abgelaufen. Ein neuer ist nötig.',
  failed: 'Das hat nicht geklappt: {{reason}}',
  notAllowed:
    'Der Browser hat Benachrichtigungen nicht erlaubt. Noch einmal versuchen und „Zulassen“ wählen.',
  'obstacle.insecure':
    'Browser erlauben Benachrichtigungen nur über https. Diese Seite unter der https-Adresse des Belfry-Servers öffnen.',
  'obstacle.home-screen':
    'Auf iPhone und iPad: „Teilen“ antippen, „Zum Home-Bildschirm“ wählen und Belfry von dort öffnen.',
  'obstacle.unsupported':
    'Dieser Browser unterstützt Web Push nicht. Ein aktueller Chrome, Edge, Firefox oder Safari kann es.',
  'obstacle.denied':
    'Benachrichtigungen dieser Seite sind blockiert. In den Einstellungen des Browsers für diese Seite zulassen und neu laden.',
};
