import type { TranslatedPage } from '../translated.ts';

export const tenant: TranslatedPage<'tenant'> = {
  about: 'Einstellungen für den ganzen Mandanten.',
  nameSection: 'Name',
  nameHint: 'Mitglieder sehen diesen Namen in der Navigation, Anzeigen zeigen ihn am unteren Rand.',
  tenantTitle: 'Name des Mandanten',
  shortName: 'ist der Kurzname für URLs und Befehle. Er lässt sich nicht ändern.',
  daysFact: 'Aufbewahrung nach Alter',
  countFact: 'Aufbewahrung nach Anzahl',
  name: 'Kurzname',
  timeZoneHint:
    'Gilt für Zeiten auf diesen Seiten, für Zeitpläne von Regeln und für Anzeigen ohne eigene Zeitzone.',
  timeThere: 'Aktuelle Zeit:',
  retention: 'Aufbewahrung des Verlaufs',
  retentionHint:
    'Meldungen werden endgültig gelöscht, sobald eine der Grenzen erreicht ist, die ältesten zuerst.',
  days: 'Nach Alter',
  daysValue_one: '{{count}} Tag',
  daysValue_other: '{{count}} Tage',
  daysWrong: 'Geben Sie mehr als 0 und höchstens 36.500 Tage ein.',
  count: 'Nach Anzahl',
  countUnit: 'Meldungen',
  countValue_one: '{{n}} Meldung',
  countValue_other: '{{n}} Meldungen',
  countWrong: 'Geben Sie eine ganze Zahl von 1 bis 1.000.000.000 ein.',
  retentionShrinks:
    'Nach dem Speichern werden alle Meldungen über dieser Grenze innerhalb von Minuten gelöscht. Das lässt sich nicht rückgängig machen.',
  daysBound_one: 'Dieser Server bewahrt höchstens {{count}} Tag auf.',
  daysBound_other: 'Dieser Server bewahrt höchstens {{count}} Tage auf.',
  countBound: 'Dieser Server bewahrt höchstens {{n}} Meldungen je Mandant auf.',
  rateBound: 'Dieser Server erlaubt je Mandant höchstens {{perSecond}} je Sekunde und {{burst}} auf einmal.',
  rateLabel: 'Alle Tokens zusammen',
  rateHint:
    'Begrenzt, wie schnell alle Absender dieses Mandanten senden. Darüber hinaus antwortet der Server mit 429; jedes Token hat außerdem ein eigenes Limit.',
  rateCritical:
    'Kritische Meldungen haben ein eigenes, gleich großes Limit. Andere Meldungen können sie nicht blockieren.',
};
