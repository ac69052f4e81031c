import type { Format } from './format.ts';
import { objectAt, optionalObject, requiredText, textOf } from './payload-values.ts';

/** By the number that Uptime Kuma gives a heartbeat's status. */
const statuses = [
  { severity: 'down', level: 'error', predicate: 'is down' },
  { severity: 'up', level: 'success', predicate: 'is up' },
  { severity: 'pending', level: 'warning', predicate: 'is pending' },
  { severity: 'maintenance', level: 'info', predicate: 'is in maintenance' },
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
    const { severity, level, predicate } = status;
    return [
      {
        title: `${name} ${predicate}`,
        message: textOf(heartbeat.msg, payload.msg),
        severity,
        level,
        source: sourceOf(textOf(monitor.hostname), textOf(monitor.url)),
        key: `uptime-kuma:${subject}`,
        url: textOf(monitor.url),
        identity: textOf(heartbeat.time) && `${subject} ${severity} ${textOf(heartbeat.time)}`,
      },
    ];
  },
};

/** Kuma gives monitors that have no URL the empty one `https://`. */
function sourceOf(hostname: string | undefined, url: string | undefined): string | undefined {
  return hostname ?? (url === 'https://' ? undefined : url);
}
