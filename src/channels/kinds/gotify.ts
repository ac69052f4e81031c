import { messageText } from '#core/routing/message-text.ts';
import {
  type ChannelSetup,
  detailsWithLinksOf,
  type HttpKind,
  jsonRequest,
  type OutgoingNotification,
  severityOf,
  updateText,
  urlWith,
} from '../message.ts';

const priorities = { success: 2, info: 4, warning: 6, error: 8, critical: 10 } as const;

/** Makes no sound. */
const quietPriority = 1;

/** https://gotify.net/docs/pushmsg. A message cannot be changed, so an update is one more. */
export const gotify: HttpKind = {
  request(setup, notification) {
    const message = `${messageText(notification)}\n\n${detailsWithLinksOf(notification)}`;
    return push(setup, notification, { message, priority: priorities[severityOf(notification)] });
  },

  update: (setup, notification, update) =>
    push(setup, notification, { message: updateText(update), priority: quietPriority }),
};

function push(
  { settings: { url = '' }, secrets: { token = '' } }: ChannelSetup,
  { title, url: target }: OutgoingNotification,
  given: { readonly message: string; readonly priority: number },
) {
  const click = target === null ? {} : { extras: { 'client::notification': { click: { url: target } } } };
  return jsonRequest(urlWith(url, '/message'), { title, ...given, ...click }, { 'x-gotify-key': token });
}
