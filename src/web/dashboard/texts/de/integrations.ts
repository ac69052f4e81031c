import type { TranslatedPage } from '../translated.ts';

export const integrations: TranslatedPage<'integrations'> = {
  about:
    'Software, die eine URL aufrufen kann, sendet ohne Änderung an Belfry. Wählen Sie Ihre Software; Belfry zeigt, was einzutragen ist.',
  formats: 'Unterstützte Software',
  mappings: 'Zuordnungen',
  createMapping: 'Zuordnung anlegen',
  mappingsEmpty: 'Keine Zuordnungen',
  mappingsEmptyText:
    'Eine Zuordnung macht aus beliebigem JSON Meldungen. Legen Sie eine an, und senden Sie an ihre Adresse: Der letzte Payload erscheint neben den Feldern.',
  mappingNameHint: 'Teil der Adresse: Kleinbuchstaben, Ziffern, „.“, „_“ und „-“.',
  nameTaken: 'Es gibt schon eine Zuordnung mit diesem Namen.',
  nameWrong: 'Kleinbuchstaben, Ziffern, „.“, „_“ und „-“, am Anfang ein Buchstabe oder eine Ziffer.',
  changed: 'Geändert',
  items: 'Liste',
  itemsHint:
    'JSON Pointer auf eine Liste, zum Beispiel /events, mit einer Meldung je Element. Leer, wenn der Payload eine Meldung ist.',
  isRootList: 'Die Wurzel ist ein Array: eine Meldung je Element',
  fieldsHint:
    'Felder enthalten Text und Platzhalter. {/name} steht für einen Wert des Elements, {^/name} für einen Wert des ganzen Payloads.',
  'field.identity': 'Identität',
  identityHint: 'Belfry speichert eine Meldung mit derselben Identität nicht noch einmal.',
  insert: 'In „{{field}}“ einfügen',
  levels: 'Stufen zuordnen',
  levelsHint: 'Die Stufe für jedes Wort im Feld „Stufe“. * gilt für jedes andere Wort.',
  levelWord: 'Wort',
  addWord: 'Wort hinzufügen',
  removeWord: 'Wort entfernen',
  payload: 'Payload',
  payloadHint: 'Der zuletzt empfangene Payload oder eigenes JSON. Nichts wird gespeichert.',
  payloadHintNew:
    'Fügen Sie ein Beispiel ein. Oder speichern Sie zuerst, und senden Sie an die Adresse: Dann erscheint der Payload hier.',
  payloadTooLong: 'Zu lang für eine Vorschau: höchstens 64 KiB.',
  received: 'Empfangen',
  useReceived: 'Empfangenen verwenden',
  preview: 'Vorschau',
  previewCount_one: '{{count}} Meldung',
  previewCount_other: '{{count}} Meldungen',
  previewFailed: 'Nicht lesbar',
  previewNone: 'Tragen Sie einen Titel und einen Payload ein, um das Ergebnis zu sehen.',
  noTitle: 'Kein Titel',
  deleteMappingTitle: 'Zuordnung „{{name}}“ löschen?',
  deleteMappingDo: 'Zuordnung löschen',
  deleteMappingAbout: 'Anfragen an ihre Adresse werden dann mit 404 beantwortet.',
  filter: 'Nach Name filtern',
  noneMatch: 'Nicht in der Liste? Legen Sie eine Zuordnung an: Sie liest beliebiges JSON.',
  software: 'Software',
  payloadUrl: 'Payload-URL',
  signingSecret: 'Geheimnis',
  docs: 'Dokumentation',
  token: 'API-Token',
  tokenHint: 'Ein eigenes Token je Absender: So unterscheiden ihn Suchen und Regeln.',
  chooseToken: 'Token auswählen',
  askForToken: 'Bitten Sie einen Admin um ein Token für diesen Absender.',
  tokenId: 'TOKEN-ID',
  noToken: 'Der Absender braucht ein API-Token. Legen Sie zuerst eines an.',
  neverUsed: 'Damit kam noch nichts an',
  lastUsed: 'Zuletzt verwendet',
  replaceToken: 'Ersetzen Sie {{token}} durch das Token. Es wurde beim Anlegen gezeigt.',
  'where.alertmanager':
    'Tragen Sie diesen Empfänger in alertmanager.yml ein, und laden Sie Alertmanager neu. In Prometheus ändert sich nichts.',
  'where.grafana':
    'Öffnen Sie in Grafana „Alerting → Contact points“, fügen Sie einen Kontaktpunkt der Art Webhook hinzu, und tragen Sie die Adresse ein. Unter „Optional settings“ stehen das Schema Bearer und das Token als Credentials. Oder verwenden Sie eine Provisioning-Datei.',
  'where.uptime-kuma':
    'Öffnen Sie in Uptime Kuma „Einstellungen → Benachrichtigungen“, fügen Sie eine der Art Webhook hinzu, und tragen Sie die Adresse ein. Wählen Sie application/json als Body, und fügen Sie diese Header hinzu.',
  'where.github':
    'Öffnen Sie im Repository „Settings → Webhooks → Add webhook“. Tragen Sie die Payload-URL, den Content-Type application/json und das Geheimnis ein. GitHub signiert, was es sendet, und braucht das Token nicht.',
  'where.gitea':
    'Öffnen Sie im Repository „Einstellungen → Webhooks → Webhook hinzufügen“. Tragen Sie die Adresse als Ziel-URL ein, und das Token als Authorization-Header.',
  'where.gitlab':
    'Öffnen Sie im Projekt „Settings → Webhooks“. Tragen Sie die Adresse als URL ein, und das Token als Secret token.',
  'where.ntfy':
    'Clients von ntfy verwenden diese Adresse als Server. Das Thema wird zum Host der Meldung. Geräte, die nur eine URL abrufen können, hängen /THEMA/publish?message=… an.',
  'where.gotify':
    'Clients von Gotify verwenden diese Adresse als Server, und das Token als Anwendungs-Token.',
  'where.apprise': 'Geben Sie Apprise diese URL.',
  'where.healthchecks':
    'Öffnen Sie in Healthchecks „Integrations → Webhook“. Tragen Sie für „down“ und „up“ dasselbe ein: die Methode POST, die Adresse, diesen Body und diese Header.',
  'where.home-assistant':
    'Fügen Sie dies Ihrer Konfiguration hinzu, und starten Sie Home Assistant neu. Automationen senden dann über notify.belfry.',
  'where.zabbix':
    'Öffnen Sie in Zabbix „Alarme → Medientypen“, und legen Sie einen der Art Webhook mit diesen Parametern an. Die Dokumentation enthält die übrigen Parameter und das Skript.',
  'where.sentry':
    'Öffnen Sie in Sentry „Settings → Integrations“, legen Sie eine Internal Integration an, tragen Sie diese Webhook-URL ein, und schalten Sie „Alert rule action“ ein. Die Adresse enthält das Token.',
  'where.sns':
    'Legen Sie ein Abonnement mit dem Protokoll HTTPS und diesem Endpunkt an, ohne Raw message delivery. Belfry bestätigt es selbst. Die Adresse enthält das Token.',
  'where.slack':
    'Tragen Sie diese Adresse ein, wo nach der URL eines eingehenden Webhooks von Slack gefragt wird. Die Adresse enthält das Token.',
  'where.pagerduty':
    'Tragen Sie diese Adresse ein, wo nach der URL der Events API v2 von PagerDuty gefragt wird. Die Adresse enthält das Token; der Routing Key wird nicht gelesen.',
  'where.opsgenie': 'Tragen Sie diese Adresse als API-URL ein, und das Token als API Key.',
  'where.cloudevents': 'Senden Sie Ereignisse und Stapel von CloudEvents 1.0 als JSON an diese Adresse.',
  'where.curl': 'Skripte und Programme senden eine Meldung mit einer HTTP-Anfrage.',
};
