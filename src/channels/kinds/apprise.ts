import { messageText } from '#core/routing/message-text.ts';
import {
  type ChannelSetup,
  detailsWithLinksOf,
  type HttpKind,
  jsonRequest,
  severityOf,
  updateText,
} from '../message.ts';

const types = {
  success: 'success',
  info: 'info',
  warning: 'warning',
  error: 'failure',
  critical: 'failure',
} as const;

/** The Apprise API, with a stored configuration (`/notify/KEY`) or with `urls`: https://github.com/caronc/apprise-api */
export const apprise: HttpKind = {
  request: (setup, notification) =>
    notify(setup, {
      title: notification.title,
      body: `${messageText(notification)}\n\n${detailsWithLinksOf(notification)}`,
      type: types[severityOf(notification)],
    }),

  update: (setup, { title }, update) =>
    notify(setup, { title, body: updateText(update), type: update.event === 'ended' ? 'success' : 'info' }),

  outcomeOf({ status }) {
    if (status === 204) return { outcome: 'retry', answer: 'there is no configuration with this key' };
    // 424: one of several services failed. A retry would send a duplicate to the others.
    return status === 424 ? { outcome: 'failed' } : undefined;
  },
};

const notify = ({ settings: { url = '', tag }, secrets: { urls } }: ChannelSetup, message: object) =>
  jsonRequest(url, {
    ...{ ...message, format: 'text' },
    ...(tag !== undefined && { tag }),
    ...(urls !== undefined && { urls }),
  });
