import type { Format, Item } from '../format.ts';
import { labelsOfList, objectAt, optionalObject, requiredText, textOf } from '../payload.ts';

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
    if (!status) return [sentenceOf(requiredText(payload.msg, '/msg'))];
    const id = textOf(heartbeat.monitorID, monitor.id);
    const name = textOf(monitor.name) ?? `Monitor ${id ?? ''}`;
    // A name may change while its monitor is down.
    const subject = id ?? name;
    const { severity, level, predicate } = status;
    return [
      {
        title: `${name} ${predicate}`,
        message: textOf(heartbeat.msg, payload.msg),
        severity,
        level,
        source: sourceOf(textOf(monitor.hostname), textOf(monitor.url)),
        key: `uptime-kuma:${subject}`,
        labels: labelsOfList(monitor.tags, 'name', 'value'),
        isFiring: severity === 'down',
        url: textOf(monitor.url),
        identity: textOf(heartbeat.time) && `${subject} ${severity} ${textOf(heartbeat.time)}`,
      },
    ];
  },
};

/** What has no status: a test, or that a certificate or a domain is about to expire. */
function sentenceOf(message: string): Item {
  const isExpiry = /\bwill expire in\b/.test(message);
  return {
    title: 'Uptime Kuma',
    message,
    severity: isExpiry ? 'expiry' : 'message',
    level: isExpiry ? 'warning' : 'info',
  };
}

/** Kuma gives monitors that have no URL the empty one `https://`. */
function sourceOf(hostname: string | undefined, url: string | undefined): string | undefined {
  return hostname ?? (url === 'https://' ? undefined : url);
}
