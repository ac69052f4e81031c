import type { Format } from './format.ts';
import { objectAt, requiredText, textOf } from './payload-values.ts';
import { usualLevel, wordOf } from './severity.ts';

/** By the number {EVENT.NSEVERITY}. */
const severities = ['not classified', 'information', 'warning', 'average', 'high', 'disaster'];

/**
 * The parameters that the webhook media types of Zabbix have, as JSON:
 * https://www.zabbix.com/documentation/current/en/manual/config/notifications/media/webhook
 */
export const zabbix: Format = {
  criticalPattern: /event_nseverity"\s*:\s*"?\s*5/,
  read({ body }) {
    const event = objectAt(body);
    const id = requiredText(event.event_id, '/event_id');
    const isRecovery = textOf(event.event_value) === '0';
    const number = Number(textOf(event.event_nseverity) ?? Number.NaN);
    const sent = wordOf(severities[number] ?? textOf(event.event_severity) ?? 'problem');
    const severity = isRecovery ? 'resolved' : sent;
    const host = textOf(event.host_ip, event.host_name);
    return [
      {
        title: requiredText(event.alert_subject, '/alert_subject'),
        message: textOf(event.alert_message, event.trigger_description),
        severity,
        level: severity === 'not classified' ? 'info' : usualLevel(severity, 'error'),
        source: textOf(event.host_name)?.includes(' ') ? host : textOf(event.host_name, event.host_ip),
        key: `zabbix:${textOf(event.trigger_id) ?? id}:${host ?? ''}`,
        isFiring: !isRecovery,
        url: textOf(event.url, event.zabbix_url),
        identity: [id, event.event_value, event.event_update_status, event.event_update_time]
          .map((each) => textOf(each) ?? '')
          .join(' '),
      },
    ];
  },
};
