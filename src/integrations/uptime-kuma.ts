import type { Format } from './incoming.ts';
import { objectAt, optionalObject, requiredText, textOf } from './payload-values.ts';

/** By the number that Uptime Kuma gives a heartbeat's status. */
const statuses = [
  { severity: 'down', level: 'error', says: 'is down' },
  { severity: 'up', level: 'success', says: 'is up' },
  { severity: 'pending', level: 'warning', says: 'is pending' },
  { severity: 'maintenance', level: 'info', says: 'is in maintenance' },
] as const;

/** The webhook notification of Uptime Kuma, as JSON or multipart form: https://github.com/louislam/uptime-kuma/wiki/Notification-Methods */
export const uptimeKuma: Format = {
  read({ body }) {
    const payload = objectAt(body);
    const heartbeat = optionalObject(payload.heartbeat, '/heartbeat');
    const monitor = optionalObject(payload.monitor, '/monitor');
    const status = statuses[Number(textOf(heartbeat.status) ?? -1)];
    // A test, or a certificate that expires: a sentence and no status.
    if (!status)
      return [
        {
          title: 'Uptime Kuma',
          message: requiredText(payload.msg, '/msg'),
          severity: 'message',
          level: 'info',
        },
      ];
    const name = textOf(monitor.name) ?? `Monitor ${textOf(heartbeat.monitorID) ?? ''}`;
    const subject = `${textOf(heartbeat.monitorID, monitor.id) ?? ''}:${name}`;
    const { severity, level, says } = status;
    return [
      {
        title: `${name} ${says}`,
        message: textOf(heartbeat.msg, payload.msg),
        severity,
        level,
        place: placeOf(textOf(monitor.hostname), textOf(monitor.url)),
        key: `uptime-kuma:${subject}`,
        url: textOf(monitor.url),
        identity: textOf(heartbeat.time) && `${subject} ${severity} ${textOf(heartbeat.time)}`,
      },
    ];
  },
};

/** Kuma gives monitors that have no URL the empty one `https://`. */
function placeOf(hostname: string | undefined, url: string | undefined): string | undefined {
  return hostname ?? (url === 'https://' ? undefined : url);
}
