import type { Format } from '../format.ts';
import { type JsonObject, objectAt, textOf } from '../payload.ts';
import { readAlerts } from './alertmanager.ts';

/**
 * The webhook contact point of Grafana Alerting, which is Alertmanager's with links to the panel:
 * https://grafana.com/docs/grafana/latest/alerting/configure-notifications/manage-contact-points/integrations/webhook-notifier/
 */
export const grafana: Format = {
  read: ({ body }) =>
    readAlerts(objectAt(body), {
      name: 'grafana',
      urlOf: ({ panelURL, dashboardURL, generatorURL }) => panelURL || dashboardURL || generatorURL,
      titleOf: withoutData,
    }),
};

/** A title for alerts about a rule without data. The rule's own summary would claim what has not been measured. */
function withoutData({ alertname, rulename }: JsonObject): string | undefined {
  const rule = textOf(rulename);
  return rule && /^Datasource(?:NoData|Error)$/.test(textOf(alertname) ?? '')
    ? `${alertname}: ${rule}`
    : undefined;
}
