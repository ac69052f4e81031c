import { type Format, usualLevel } from '../format.ts';
import { choiceAt, objectAt, textOf } from '../payload.ts';

/** What Apprise sends to json:// and jsons://, also as a form: https://github.com/caronc/apprise/wiki/Notify_Custom_JSON */
export const apprise: Format = {
  read({ body }) {
    const { title, message, type } = objectAt(body);
    const severity = choiceAt(type, '/type', ['info', 'success', 'warning', 'failure']);
    return [
      { title: textOf(title), message: textOf(message), severity, level: usualLevel(severity, 'info') },
    ];
  },
  countFiles: ({ body }) => {
    const { attachments } = objectAt(body);
    return Array.isArray(attachments) ? attachments.length : 0;
  },
};
