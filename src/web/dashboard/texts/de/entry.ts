import type { TranslatedPage } from '../translated.ts';

export const entry: TranslatedPage<'entry'> = {
  signIn: 'Anmelden',
  newPasswordHint:
    'Mindestens 10 Zeichen. Ein paar zufällige Wörter sind leichter zu merken als Sonderzeichen.',
  lookAtIt: 'Passwort anzeigen',
  remember: 'Auf diesem Gerät angemeldet bleiben',
  withPasskey: 'Mit Passkey anmelden',
  withProvider: 'Weiter mit {{name}}',
  or: 'oder',
  passkeyFailed: 'Anmeldung mit Passkey fehlgeschlagen',
  signInFailed: 'Anmeldung fehlgeschlagen',
  passwordWrong: 'E-Mail oder Passwort ist falsch.',
  signInOver: 'Diese Anmeldung ist abgelaufen. Gehen Sie zurück, und geben Sie Ihr Passwort noch einmal ein.',
  codeWrong: 'Der Code ist falsch oder wurde schon verwendet.',
  'provider.denied': 'Der Anmeldedienst hat den Zugriff verweigert, oder Sie haben abgebrochen.',
  'provider.not-linked':
    'Das Konto mit Ihrer E-Mail-Adresse ist nicht mit dieser Identität verknüpft. Melden Sie sich mit Ihrem Passwort an.',
  'provider.not-invited':
    'Ihre E-Mail-Adresse ist nicht eingeladen. Bitten Sie einen Admin um eine Einladung.',
  'provider.not-verified': 'Der Anmeldedienst hat Ihre E-Mail-Adresse nicht bestätigt.',
  'provider.expired': 'Die Anmeldung hat zu lange gedauert. Versuchen Sie es erneut.',
  'provider.provider':
    'Die Antwort des Anmeldedienstes war ungültig. Bitten Sie den Betreiber dieses Servers, die Einstellungen zu prüfen.',
  codeTitle: 'Zwei-Faktor-Authentisierung',
  codeHint: 'Geben Sie den sechsstelligen Code aus Ihrer Authenticator-App ein.',
  code: 'Code',
  backupHint: 'Geben Sie einen Ihrer Ersatzcodes ein. Jeder gilt einmal.',
  backupCode: 'Ersatzcode',
  useBackup: 'Ersatzcode verwenden',
  useApp: 'Authenticator-App verwenden',
  trust: 'Auf diesem Gerät 30 Tage lang nicht mehr fragen',
  back: 'Zurück',
  forgot:
    'Passwort vergessen? Wer diesen Server betreibt, kann ein neues setzen: belfry user password IHRE-E-MAIL',

  setupTitle: 'Belfry einrichten',
  setupHint: 'Legen Sie das erste Konto an. Es wird Eigentümer; dieser Link gilt nur einmal.',
  tenantTitle: 'Name des Mandanten',
  tenantTitleHint:
    'Ihr Team, Ihr Standort oder Ihre Firma. Meldungen, Anzeigen und Mitglieder gehören zu einem Mandanten.',
  tenantTitleExample: 'Werk 2',
  yourName: 'Ihr Name',
  create: 'Konto anlegen',
  setupFailed: 'Konto nicht angelegt',
  setupDone: 'Dieser Server ist bereits eingerichtet',
  setupDoneHint: 'Melden Sie sich mit Ihrem Konto an, oder bitten Sie den Eigentümer um eine Einladung.',
  setupNoSecret: 'Öffnen Sie den Einrichtungslink',
  setupNoSecretHint:
    'Dieser Server hat noch kein Konto. Der Einrichtungslink steht im Log des Servers; ein Neustart erzeugt einen neuen.',

  inviteTitle: '{{tenant}} beitreten',
  inviteHint: '{{by}} hat Sie als {{role}} eingeladen.',
  inviteAs: 'Sie sind als {{email}} angemeldet.',
  inviteOther: 'Das sind nicht Sie? Melden Sie sich zuerst ab.',
  inviteForOther: 'Melden Sie sich ab, um mit der eingeladenen Adresse beizutreten.',
  toSignIn: 'Zur Anmeldung',
  inviteFor: 'Diese Einladung ist für {{email}}.',
  join: 'Beitreten',
  joinFailed: 'Beitritt fehlgeschlagen',
  haveAccount: 'Ich habe schon ein Konto',
  inviteGone: 'Einladung ungültig',
  inviteGoneHint: 'Sie wurde verwendet, zurückgezogen oder ist abgelaufen. Bitten Sie um eine neue.',
  inviteNoSecret: 'Der Link ist unvollständig. Kopieren Sie den ganzen Link, und öffnen Sie ihn erneut.',

  newTenantTitle: 'Neuer Mandant',
  newTenantHint:
    'Jeder Mandant hat eigene Meldungen, Regeln, Anzeigen und Mitglieder. Mandanten teilen keine Daten.',
  tenantName: 'Kurzname',
  tenantNameHint: 'Für URLs und Befehle. Er lässt sich später nicht ändern.',
  tenantNameWrong: 'Nur Kleinbuchstaben, Ziffern und Bindestriche; am Anfang ein Buchstabe oder eine Ziffer.',
  createTenant: 'Mandant anlegen',
  createTenantFailed: 'Mandant nicht angelegt',
  tenantNameTaken: 'Dieser Kurzname ist schon vergeben. Wählen Sie einen anderen.',
};
