import type { Translate } from '#web/language.ts';

/** Everything the page of a device says, in English. */
export const en = {
  title: 'Notifications on this device',
  loading: 'Loading…',
  tryAgain: 'Try again',
  offer: 'This device will get what Belfry sends to “{{channel}}” of {{tenant}}.',
  name: 'Name of this device',
  turnOn: 'Turn on notifications',
  turnedOn: 'Notifications from “{{channel}}” are on.',
  on: 'On: {{channel}} · {{tenant}}',
  lastDelivered: 'Last notification {{at}}.',
  lastFailed:
    'The last notification did not arrive. Send a test. If it does not arrive either, turn notifications off and add this device again.',
  nothingYet: 'No notifications yet.',
  test: 'Send test',
  tested: 'Sent. The notification arrives within seconds.',
  testFailed: 'Not sent. The channel’s page in Belfry shows why.',
  turnOff: 'Turn off',
  off: 'Notifications from “{{channel}}” are off.',
  removed: 'This device was removed from its channel. To add it again, get a new link.',
  notReached: 'Notifications may not arrive on this device: {{reason}}',
  addChannel: 'Add another channel',
  enterLink: 'Link from the channel’s page',
  enterLinkHint: 'In Belfry, open the push channel and choose “Add device”.',
  openLink: 'Continue',
  notALink: 'This is not a link from the channel’s page.',
  linkOver: 'This link was used or has expired. Ask for a new one.',
  failed: 'That did not work: {{reason}}',
  notAllowed: 'The browser did not allow notifications. Try again, and choose “Allow”.',
  'obstacle.insecure':
    'Browsers allow notifications over https only. Open this page at the https address of your Belfry server.',
  'obstacle.home-screen':
    'On an iPhone or iPad: tap Share, choose “Add to Home Screen”, then open Belfry from your Home Screen.',
  'obstacle.unsupported':
    'This browser does not support Web Push. Use a current Chrome, Edge, Firefox or Safari.',
  'obstacle.denied':
    'Notifications from this site are blocked. Allow them in the browser’s settings for this site, then reload the page.',
} as const satisfies Record<string, string>;

/** The keys of English are the keys of every language. */
export type PushTexts = Readonly<Record<keyof typeof en, string>>;
export type PushTranslate = Translate<PushTexts>;
