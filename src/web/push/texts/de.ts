import type { PushTexts } from './en.ts';

/** Everything the page of a device says, in German. */
export const de: PushTexts = {
  title: 'Benachrichtigungen auf diesem Gerät',
  loading: 'Wird geladen …',
  tryAgain: 'Erneut versuchen',
  offer: 'Dieses Gerät erhält, was Belfry an „{{channel}}“ von {{tenant}} sendet.',
  name: 'Name dieses Geräts',
  turnOn: 'Benachrichtigungen einschalten',
  turnedOn: 'Benachrichtigungen von „{{channel}}“ sind ein.',
  on: 'Ein: {{channel}} · {{tenant}}',
  lastDelivered: 'Letzte Meldung {{at}}.',
  lastFailed:
    'Die letzte Meldung kam nicht an. Senden Sie einen Test. Kommt auch er nicht an, schalten Sie die Benachrichtigungen aus und fügen Sie das Gerät neu hinzu.',
  nothingYet: 'Noch keine Meldungen.',
  test: 'Test senden',
  tested: 'Gesendet. Die Meldung kommt in wenigen Sekunden an.',
  testFailed: 'Nicht gesendet. Die Seite des Kanals in Belfry zeigt den Grund.',
  turnOff: 'Ausschalten',
  off: 'Benachrichtigungen von „{{channel}}“ sind aus.',
  removed:
    'Dieses Gerät wurde aus seinem Kanal entfernt. Zum erneuten Hinzufügen brauchen Sie einen neuen Link.',
  notReached: 'Auf diesem Gerät kommen Meldungen vielleicht nicht an: {{reason}}',
  addChannel: 'Weiteren Kanal hinzufügen',
  enterLink: 'Link von der Seite des Kanals',
  enterLinkHint: 'Öffnen Sie in Belfry den Push-Kanal und wählen Sie „Gerät hinzufügen“.',
  openLink: 'Weiter',
  notALink: 'Das ist kein Link von der Seite des Kanals.',
  linkOver: 'Dieser Link wurde verwendet oder ist abgelaufen. Sie brauchen einen neuen.',
  failed: 'Das hat nicht geklappt: {{reason}}',
  notAllowed:
    'Der Browser hat Benachrichtigungen nicht erlaubt. Versuchen Sie es noch einmal und wählen Sie „Zulassen“.',
  'obstacle.insecure':
    'Browser erlauben Benachrichtigungen nur über https. Öffnen Sie diese Seite unter der https-Adresse Ihres Belfry-Servers.',
  'obstacle.home-screen':
    'Auf iPhone und iPad: Tippen Sie auf „Teilen“, wählen Sie „Zum Home-Bildschirm“ und öffnen Sie Belfry von dort.',
  'obstacle.unsupported':
    'Dieser Browser unterstützt Web Push nicht. Verwenden Sie einen aktuellen Chrome, Edge, Firefox oder Safari.',
  'obstacle.denied':
    'Benachrichtigungen dieser Seite sind blockiert. Erlauben Sie sie in den Einstellungen des Browsers für diese Seite und laden Sie die Seite neu.',
};
