import type { TranslatedPage } from '../en.ts';

export const expectations: TranslatedPage<'expectations'> = {
  title: 'Erwartungen',
  about:
    'Absender sagen, dass eine Meldung wiederkommt. Kommt sie nicht rechtzeitig, sendet Belfry selbst eine.',
  keys: '/ filtern · ↑ ↓ auswählen · Enter öffnen',
  filter: 'Nach Schlüssel, Titel, Host oder Token filtern',
  empty: 'Nichts wird erwartet',
  emptyText:
    'Ein Absender beginnt eine Erwartung mit einem Schlüssel und X-Expect-Every. Senden Sie dies, mit einem Token anstelle von TOKEN:',
  example: 'Die nächste erwarten',
  nothing: 'Keine Erwartung passt zum Filter.',
  more_one: '{{count}} weitere. Mit dem Filter finden Sie sie.',
  more_other: '{{count}} weitere. Mit dem Filter finden Sie sie.',
  what: 'Meldung',
  key: 'Schlüssel',
  host: 'Host',
  token: 'Token',
  every: 'Alle',
  last: 'Zuletzt',
  state: 'Nächste',
  level: 'Stufe, wenn überfällig',
  sent: 'Gesendet, weil überfällig',
  open: 'Meldung öffnen',
  overdue: 'überfällig',
  due: 'fällig {{time}}',
  end: 'Erwartung beenden…',
  endDo: 'Erwartung beenden',
  endTitle: 'Erwartung „{{title}}“ beenden?',
  endAbout:
    'Belfry wartet nicht mehr auf die nächste, bis ein Absender sie wieder erwartet. Ist sie überfällig, verschwindet die Meldung darüber von den Anzeigen.',
};
