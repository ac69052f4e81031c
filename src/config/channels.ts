/** The settings of channels. */
import { email, networks, orOff, smtpUrl, wholeNumber, withoutPassword } from './values.ts';
import { optional, optionalSecret, type SettingsOf, setting } from './variable.ts';

export const channelVariables = {
  BELFRY_OUTBOUND_ALLOW: setting(
    '',
    networks,
    'networks that channels may reach although they are not public, as in 10.0.0.0/8',
  ),
  BELFRY_SMTP_URL: {
    ...optionalSecret(
      smtpUrl,
      'mail server for channels that name none, as in smtp://user:password@host:587',
    ),
    show: withoutPassword,
  },
  BELFRY_SMTP_FROM: optional(email, 'address that its mails come from'),
  BELFRY_SMTP_PER_HOUR: setting(
    '1000',
    orOff(wholeNumber(50, 1_000_000)),
    'mails of each tenant in an hour, one for each recipient, or off; further mails wait',
  ),
};

type ChannelSettings = SettingsOf<typeof channelVariables>;

export function groupChannelSettings(settings: ChannelSettings) {
  const { BELFRY_SMTP_URL: url, BELFRY_SMTP_FROM: from, BELFRY_SMTP_PER_HOUR: perHour } = settings;
  return Object.freeze({
    allow: Object.freeze(settings.BELFRY_OUTBOUND_ALLOW),
    mail: url === undefined ? undefined : Object.freeze({ url, from, perHour }),
  });
}
