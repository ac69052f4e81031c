import type { TranslatedPage } from '../translated.ts';

export const account: TranslatedPage<'account'> = {
  back: 'Zurück zu {{tenant}}',
  profile: 'Profil',
  emailHint: 'Mit dieser Adresse melden Sie sich an.',

  passwordHint: 'Ein neues Passwort beendet alle Ihre anderen Sitzungen.',
  currentPassword: 'Aktuelles Passwort',
  newPassword: 'Neues Passwort',
  changePassword: 'Passwort ändern',
  passwordChanged: 'Passwort geändert. Ihre anderen Sitzungen sind beendet.',
  passwordFailed: 'Passwort nicht geändert',

  twoFactor: 'Zwei-Faktor-Authentisierung',
  twoFactorOn: 'Ein. Nach dem Passwort wird auch ein Code aus Ihrer Authenticator-App verlangt.',
  twoFactorOff: 'Aus. Wer Ihr Passwort kennt, kann sich anmelden.',
  turnOn: 'Einschalten',
  turnOff: 'Ausschalten',
  turnOffTitle: 'Zwei-Faktor-Authentisierung ausschalten?',
  proveTitle: 'Passwort bestätigen',
  proveHint: 'Das schützt Ihr Konto, falls jemand anders dieses Gerät verwendet.',
  proveYourself: 'Identität bestätigen',
  proveByPasskey: 'Passkey verwenden',
  proveAtProvider: 'Erneut mit {{name}} anmelden',
  proveByHand:
    'Melden Sie sich ab und wieder an, und versuchen Sie es dann innerhalb von zehn Minuten erneut.',
  notProven: 'Ihre Identität wurde nicht bestätigt.',
  proveFailed: 'Ihre Identität konnte nicht bestätigt werden',
  scan: 'Scannen Sie den QR-Code mit einer Authenticator-App, oder geben Sie dort diesen Schlüssel ein.',
  scanLabel: 'QR-Code für eine Authenticator-App',
  backupCodes: 'Ersatzcodes',
  backupCodesHint:
    'Bewahren Sie die Codes sicher auf. Jeder ersetzt einmal die App, falls Sie sie verlieren.',
  newBackupCodes: 'Neue Ersatzcodes erstellen',
  enterCode: 'Sechsstelliger Code aus der App',
  confirmCode: 'Bestätigen',
  twoFactorDone: 'Die Zwei-Faktor-Authentisierung ist eingeschaltet',
  codeFailed: 'Code nicht akzeptiert',

  passkeys: 'Passkeys',
  passkeysHint:
    'Melden Sie sich mit Fingerabdruck, Gesicht oder Sicherheitsschlüssel statt mit einem Passwort an.',
  passkeysNeedHttps: 'Browser unterstützen Passkeys nur über HTTPS oder auf localhost.',
  noPasskeys: 'Sie haben noch keine Passkeys.',
  addPasskey: 'Passkey hinzufügen',
  passkeyName: 'Name des Passkeys',
  passkeyNameExample: 'Laptop',
  passkeyFailed: 'Passkey nicht hinzugefügt',
  added: 'Hinzugefügt {{when}}',
  removePasskeyTitle: 'Passkey {{name}} entfernen?',
  removePasskeyText: 'Sie können sich damit nicht mehr anmelden. Löschen Sie ihn auch auf Ihrem Gerät.',

  sessions: 'Sitzungen',
  thisSession: 'Diese Sitzung',
  lastSeen: 'Zuletzt aktiv {{when}}',
  endSessionOf: 'Sitzung in {{what}} abmelden',
  endOthers: 'Alle anderen abmelden',
  unknownBrowser: 'Unbekannter Browser',
  browserOn: '{{browser}} auf {{system}}',

  tenants: 'Ihre Mandanten',
  noTenants: 'Sie sind in keinem Mandanten Mitglied. Bitten Sie einen Admin um einen Einladungslink.',
};
