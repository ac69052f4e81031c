import { clipBytes, inBytes, messageText } from '#core/routing/message-text.ts';
import {
  type ChannelSetup,
  detailsWithLinksOf,
  type HttpKind,
  jsonRequest,
  severityOf,
  updateText,
} from '../message.ts';

const priorities = { success: 2, info: 3, warning: 4, error: 4, critical: 5 } as const;
const tags = {
  success: 'white_check_mark',
  info: 'information_source',
  warning: 'warning',
  error: 'rotating_light',
  critical: 'fire',
} as const;
/** Under 4,096 bytes: ntfy turns a longer text into an attached file. */
const textBytes = 4_000;
/** Of them, without the links below, which are never cut. */
const detailsBytes = 1_000;
const updateBytes = 1_000;

const tagsAfter = {
  acknowledged: 'eyes',
  unacknowledged: 'bell',
  shelved: 'zzz',
  unshelved: 'bell',
  ended: 'white_check_mark',
} as const;
/** Makes no sound. */
const quietPriority = 2;

/** https://docs.ntfy.sh/publish/#publish-as-json. A message with the same sequence takes the place of the earlier one, from ntfy 2.16 on. */
export const ntfy: HttpKind = {
  request(setup, notification) {
    const severity = severityOf(notification);
    const end = `\n\n${detailsWithLinksOf(notification, detailsBytes)}`;
    return publish(setup, {
      sequence_id: notification.id,
      title: notification.title,
      message: `${messageText(notification, textBytes - Buffer.byteLength(end), inBytes)}${end}`,
      priority: priorities[severity],
      tags: [tags[severity]],
      ...(notification.url !== null && { click: notification.url }),
    });
  },

  update: (setup, notification, update) =>
    publish(setup, {
      sequence_id: notification.id,
      title: notification.title,
      message: `${clipBytes(updateText(update), detailsBytes)}\n\n${clipBytes(notification.message, updateBytes)}`,
      priority: quietPriority,
      tags: [tagsAfter[update.event]],
      ...(notification.url !== null && { click: notification.url }),
    }),
};

const publish = (
  { settings: { url = 'https://ntfy.sh', topic = '' }, secrets: { token } }: ChannelSetup,
  message: object,
) =>
  jsonRequest(
    new URL('/', url).href,
    { topic, ...message },
    token === undefined ? {} : { authorization: `Bearer ${token}` },
  );
