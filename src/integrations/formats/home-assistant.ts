import { type Format, usualLevel, wordOf } from '../format.ts';
import { labelsOfObject, objectAt, optionalObject, requiredText, textOf } from '../payload.ts';

/**
 * The RESTful notification of Home Assistant (POST_JSON): message, title, and the templates under `data` of its configuration,
 * which it sends beside them.
 * https://www.home-assistant.io/integrations/notify.rest/
 */
export const homeAssistant: Format = {
  read({ body }) {
    const sent = objectAt(body);
    const data = { ...sent, ...optionalObject(sent.data, '/data') };
    const severity = wordOf(textOf(data.level, data.severity) ?? 'message');
    return [
      {
        title: textOf(sent.title) ?? 'Home Assistant',
        message: requiredText(sent.message, '/message'),
        severity,
        level: usualLevel(severity, 'info'),
        source: textOf(data.host),
        key: textOf(data.key, data.tag),
        labels: labelsOfObject(data.labels),
        url: textOf(data.url),
      },
    ];
  },
};
