import { parseBoundedJson } from '#core/limits/bounded-json.ts';
import { type Format, usualLevel, wordOf } from '../format.ts';
import { labelsOfList, objectAt, requiredText, textOf } from '../payload.ts';

/** By the number {EVENT.NSEVERITY}. */
const severities = ['not classified', 'information', 'warning', 'average', 'high', 'disaster'];

/** Zabbix leaves macros that do not apply to an event as they are, such as `{TRIGGER.ID}` for an event of a service. */
const known = (value: unknown) => {
  const text = textOf(value);
  return text === undefined || text === '*UNKNOWN*' || /^\{[$#]?[A-Z][^{}\s"]*\}$/.test(text)
    ? undefined
    : text;
};

/**
 * The parameters that the webhook media types of Zabbix have, as JSON. A problem and its recovery have the same event id; a trigger
 * may have several problems at once.
 * https://www.zabbix.com/documentation/current/en/manual/config/notifications/media/webhook
 */
export const zabbix: Format = {
  criticalPattern: /event_nseverity"\s*:\s*"?\s*5/,
  read({ body }) {
    const event = objectAt(body);
    requiredText(event.event_id, '/event_id');
    const id = known(event.event_id);
    const value = known(event.event_value);
    const isRecovery = value === '0';
    // Only an event with a value has an end.
    const isAlarm = id !== undefined && (value !== undefined || event.event_value === undefined);
    const number = Number(known(event.event_nseverity) ?? Number.NaN);
    const sent = wordOf(severities[number] ?? known(event.event_severity) ?? (isAlarm ? 'problem' : 'event'));
    const severity = isRecovery ? 'resolved' : sent;
    const [name, ip] = [known(event.host_name), known(event.host_ip)];
    const level = severity === 'not classified' || severity === 'event' ? 'info' : 'error';
    return [
      {
        title:
          known(requiredText(event.alert_subject, '/alert_subject')) ?? known(event.event_name) ?? 'Zabbix',
        message: known(event.alert_message) ?? known(event.trigger_description),
        severity,
        level: usualLevel(severity, level),
        source: name?.includes(' ') ? (ip ?? name) : (name ?? ip),
        key: isAlarm ? `zabbix:${id}` : undefined,
        labels: labelsOfList(tagsIn(event.event_tags_json), 'tag', 'value'),
        isFiring: isAlarm && !isRecovery,
        url: known(event.url) ?? known(event.zabbix_url),
        identity:
          id &&
          [id, value, known(event.event_update_status), known(event.event_update_time)]
            .map((each) => each ?? '')
            .join(' '),
      },
    ];
  },
};

/** {EVENT.TAGSJSON}, which is a text with JSON. */
function tagsIn(sent: unknown): unknown {
  try {
    return typeof sent === 'string' ? parseBoundedJson(sent) : sent;
  } catch {
    return undefined;
  }
}
