import type { TranslatedPage } from '../translated.ts';

export const expectations: TranslatedPage<'expectations'> = {
  about: 'Ein Absender gibt an, wann seine nächste Meldung fällig ist. Bleibt sie aus, schlägt Belfry Alarm.',
  filter: 'Nach Schlüssel, Titel, Host oder Token filtern',
  empty: 'Nichts wird erwartet',
  emptyText:
    'Erfahren Sie, wenn ein Backup oder Cronjob ausbleibt. Geben Sie seinen Meldungen einen Schlüssel und den Header X-Expect-Every mit, zum Beispiel (mit einem Token anstelle von TOKEN):',
  example: 'Die nächste erwarten',
  nothing: 'Kein Lebenszeichen passt zum Filter.',
  every: 'Intervall',
  last: 'Zuletzt empfangen',
  state: 'Nächste',
  level: 'Stufe bei Ausbleiben',
  sent: 'Gesendet, weil überfällig',
  open: 'Meldung öffnen',
  overdue: 'überfällig',
  due: 'fällig {{time}}',
  end: 'Lebenszeichen beenden …',
  endDo: 'Lebenszeichen beenden',
  endTitle: 'Lebenszeichen „{{title}}“ beenden?',
  endAbout:
    'Belfry wartet nicht mehr auf die nächste, bis ein Absender sie wieder erwartet. Ist sie überfällig, wird die Meldung darüber erledigt.',
};
