import { labelsOf, readLabels, runbookLinkOf, shownLabels } from '#contract/history/labels.ts';
import { messageText } from '#core/routing/message-text.ts';
import {
  type ChannelSetup,
  type HttpKind,
  jsonRequest,
  type OutgoingNotification,
  type OutgoingUpdate,
  updateText,
  urlWith,
} from '../message.ts';

/**
 * API v2 of Alertmanager. An alarm is one alert: its labels, by which Alertmanager knows it, stay the same.
 * https://github.com/prometheus/alertmanager/blob/main/api/v2/openapi.yaml
 */
export const alertmanager: HttpKind = {
  request: (setup, notification, now) => alertsRequest(setup, notification, { now }),
  update: (setup, notification, update, now) => alertsRequest(setup, notification, { now, update }),
  // It would be a second alert there, which could come back as a further alarm, and so on.
  needlessFor: ({ alarm }) =>
    /^(?:alertmanager|grafana):/.test(alarm)
      ? 'not sent: the alarm comes from an Alertmanager, which has it'
      : undefined,
};

/** Alertmanager would end an alert without a time after some minutes. */
const openMs = 10 * 365 * 24 * 3_600_000;
const testMs = 5 * 60_000;
/** If the end of an alert is in the future by the clock of Alertmanager, it keeps a later end that it knows. */
const clockToleranceMs = 60_000;

function alertsRequest(
  setup: ChannelSetup,
  notification: OutgoingNotification,
  { now, update }: { readonly now: number; readonly update?: OutgoingUpdate },
) {
  const { tenant, alarm, receivedAt, ttl, state, url } = notification;
  const labels = alertLabels(setup, tenant, alarm);
  const endedAt = iso((update?.at ?? receivedAt) - clockToleranceMs);
  const ended = { labels, startsAt: endedAt, endsAt: endedAt };
  const isTest = setup.id === undefined;
  const open = {
    ...{ labels, annotations: annotationsOf(notification, update), startsAt: iso(receivedAt) },
    endsAt: iso(isTest ? now + testMs : receivedAt + (ttl === 0 ? openMs : ttl)),
    ...(url !== null &&
      /^https?:$/.test(URL.parse(url)?.protocol ?? '') && { generatorURL: new URL(url).href }),
  };
  // Alertmanager does not move the end of an alert to an earlier time, unless the alert ended before.
  const alerts = state === 'ended' ? [ended] : ttl === 0 ? [open] : [ended, open];
  return jsonRequest(urlWith(setup.settings.url ?? '', '/api/v2/alerts'), alerts, authorizationOf(setup));
}

const iso = (at: number) => new Date(at).toISOString();

/** The labels of the alert of an alarm; `tenant`: its name. */
export const alertLabels = ({ settings }: ChannelSetup, tenant: string, alarm: string) => ({
  ...{ alertname: 'Belfry', ...readLabels(settings.labels ?? ''), tenant, alarm },
});

/** The header with the token, or with user and password. */
export function authorizationOf({ settings: { user }, secrets }: ChannelSetup): Record<string, string> {
  const { password, token } = secrets;
  if (token !== undefined) return { authorization: `Bearer ${token}` };
  if (user === undefined) return {};
  return { authorization: `Basic ${Buffer.from(`${user}:${password ?? ''}`).toString('base64')}` };
}

function annotationsOf(notification: OutgoingNotification, update: OutgoingUpdate | undefined) {
  const { title, level, host, ip, key, labels } = notification;
  const texts = {
    ...{ summary: title, description: messageText(notification), level, host: host ?? ip, key },
    labels: shownLabels(labelsOf(labels)),
    runbook_url: runbookLinkOf(notification),
    state: update && updateText(update),
  };
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text));
}
