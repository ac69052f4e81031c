/** The buttons of a message in Slack or Telegram, and what a press of one sends back. */
import { buttonLabels } from '#contract/panels/button-labels.ts';
import { type Button, buttons } from '#contract/panels/buttons.ts';
import type { ChannelSetup, OutgoingNotification } from './message.ts';

/** The buttons of a message: none if nothing takes their presses, and none of an alarm that is not open. */
export function buttonsFor(
  { id }: ChannelSetup,
  isAnswered: boolean,
  { state }: OutgoingNotification,
): readonly { readonly button: Button; readonly label: string }[] {
  if (id === undefined || !isAnswered || state !== 'open') return [];
  return buttons.map((button) => ({ button, label: buttonLabels[button].en }));
}

/** What a button sends back, at most 64 bytes, which is the most of Telegram. */
export const answerData = (button: Button, channel = '', notification = ''): string =>
  [button, shortOf(channel), shortOf(notification)].join('.');

/** What {@link answerData} made; undefined for anything else. */
export function readData(
  data: unknown,
): { readonly button: Button; readonly channel: string; readonly notification: string } | undefined {
  if (typeof data !== 'string') return undefined;
  const [, name, channel = '', notification = ''] = /^(\w+)\.([\w-]{22})\.([\w-]{22})$/.exec(data) ?? [];
  const button = buttons.find((each) => each === name);
  return button && { button, channel: uuidOf(channel), notification: uuidOf(notification) };
}

const shortOf = (uuid: string) => Buffer.from(uuid.replaceAll('-', ''), 'hex').toString('base64url');

const uuidOf = (short: string) =>
  Buffer.from(short, 'base64url')
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
