import { readAlerts } from './alertmanager.ts';
import type { Format } from './format.ts';
import { objectAt } from './payload-values.ts';

/**
 * The webhook contact point of Grafana Alerting, which is Alertmanager's with links to the panel:
 * https://grafana.com/docs/grafana/latest/alerting/configure-notifications/manage-contact-points/integrations/webhook-notifier/
 */
export const grafana: Format = {
  read: ({ body }) =>
    readAlerts(objectAt(body), {
      name: 'grafana',
      linkOf: ({ panelURL, dashboardURL, generatorURL }) => panelURL || dashboardURL || generatorURL,
    }),
};
