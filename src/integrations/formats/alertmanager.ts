import { createHash } from 'node:crypto';
import { runbookLabel } from '#contract/history/labels.ts';
import { badRequest } from '#core/errors.ts';
import { type Format, type Item, itemsOf, linkOf, usualLevel, wordOf } from '../format.ts';
import {
  choiceAt,
  type JsonObject,
  joinTexts,
  labelsOfObject,
  linesOf,
  objectAt,
  optionalObject,
  textOf,
} from '../payload.ts';

/** The webhook of Alertmanager (version 4): https://prometheus.io/docs/alerting/latest/configuration/#webhook_config */
export const alertmanager: Format = {
  read: ({ body }) =>
    readAlerts(objectAt(body), { name: 'alertmanager', urlOf: ({ generatorURL }) => generatorURL }),
};

/** Prometheus itself accepts only some dozens. */
const mostLabels = 1_000;

interface Source {
  readonly name: string;
  readonly urlOf: (alert: JsonObject) => unknown;
  /** A better title than the alert's own summary. */
  readonly titleOf?: (labels: JsonObject) => string | undefined;
}

/** One item for each alert of a group, and one that counts the alerts that the sender left out. */
export function readAlerts(group: JsonObject, source: Source): readonly Item[] {
  const items = itemsOf(group.alerts, '/alerts', (alert, pointer) => readAlert(alert, pointer, source));
  const { truncatedAlerts } = group;
  if (typeof truncatedAlerts !== 'number' || truncatedAlerts <= 0) return items;
  const groupKey = textOf(group.groupKey) ?? '';
  return [
    ...items,
    {
      title: `${truncatedAlerts} more alerts`,
      message: `${truncatedAlerts} more alerts of this group were left out by the sender: see its max_alerts. Group: ${groupKey}`,
      severity: 'truncated',
      level: 'warning',
      key: `${source.name}:truncated:${groupKey}`,
      url: textOf(group.externalURL),
      identity: JSON.stringify([groupKey, truncatedAlerts, ...items.map(({ identity }) => identity)]),
    },
  ];
}

function readAlert(alert: JsonObject, pointer: string, { name, urlOf, titleOf }: Source): Item {
  const labels = labelsAt(alert.labels, `${pointer}/labels`);
  const annotations = optionalObject(alert.annotations, `${pointer}/annotations`);
  const isResolved = choiceAt(alert.status, `${pointer}/status`, ['firing', 'resolved']) === 'resolved';
  const severity = isResolved ? 'resolved' : wordOf(textOf(labels.severity) ?? 'firing');
  const title =
    textOf(titleOf?.(labels), annotations.summary, annotations.title, labels.alertname) ?? 'Alert';
  const startsAt = textOf(alert.startsAt);
  const fingerprint = textOf(alert.fingerprint) ?? fingerprintOf(labels);
  return {
    title: isResolved ? `Resolved: ${title}` : title,
    message:
      // Grafana names the reason why a rule could not be evaluated.
      joinTexts([textOf(annotations.description, annotations.message), textOf(annotations.Error)]) ||
      linesOf(labels),
    severity,
    level: isResolved ? 'success' : usualLevel(severity, 'error'),
    source: textOf(labels.host, labels.hostname, labels.instance, labels.node),
    key: `${name}:${fingerprint}`,
    labels: [
      // Before the others, of which there may be too many.
      [runbookLabel, linkOf(textOf(annotations[runbookLabel]))],
      // To Prometheus, a label with an empty value is one that does not exist.
      ...labelsOfObject(labels).filter(([, value]) => value !== ''),
    ],
    isFiring: !isResolved,
    url: textOf(urlOf(alert)),
    identity: startsAt && JSON.stringify([fingerprint, alert.status, startsAt]),
  };
}

/** @throws AppError `bad-request` when there are more labels than an alert can have. */
function labelsAt(value: unknown, pointer: string): JsonObject {
  const labels = optionalObject(value, pointer);
  if (Object.keys(labels).length <= mostLabels) return labels;
  throw badRequest(`an alert must have at most ${mostLabels} labels`);
}

/** Alertmanager before 0.19 sends none. */
function fingerprintOf(labels: JsonObject): string {
  const sorted = Object.keys(labels)
    .toSorted()
    .map((name) => [name, textOf(labels[name])]);
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex').slice(0, 16);
}
