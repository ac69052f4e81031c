import { type Format, type Item, usualLevel, wordOf } from '../format.ts';
import { type JsonObject, joinTexts, labelsOfList, objectAt, optionalObject, textOf } from '../payload.ts';

/**
 * Webhooks of Sentry's integration platform: issue alerts, issues and metric alerts.
 * https://docs.sentry.io/organization/integrations/integration-platform/webhooks/
 */
export const sentry: Format = {
  read({ body }) {
    const payload = objectAt(body);
    const data = objectAt(payload.data, '/data');
    const action = textOf(payload.action) ?? '';
    if (data.metric_alert !== undefined) return [metricAlert(data, action)];
    const isIssue = data.issue !== undefined;
    if (isIssue && !['created', 'resolved', 'unresolved'].includes(action)) return [];
    const event = data.event ?? data.error ?? data.issue;
    // Comments, and that the integration is installed or removed.
    if (event === undefined) return [];
    return [issue(objectAt(event, isIssue ? '/data/issue' : '/data/event'), action === 'resolved', data)];
  },
};

function issue(event: JsonObject, isResolved: boolean, data: JsonObject): Item {
  const severity = isResolved ? 'resolved' : wordOf(textOf(event.level) ?? 'error');
  const title = textOf(event.title, event.message) ?? 'Sentry';
  const id = textOf(event.issue_id, data.issue === undefined ? undefined : event.id);
  const project = optionalObject(typeof event.project === 'object' ? event.project : undefined, '/project');
  return {
    title: isResolved ? `Resolved: ${title}` : title,
    message: joinTexts([textOf(event.culprit), textOf(data.triggered_rule, project.name)], '\n'),
    severity,
    level: usualLevel(severity, 'error'),
    key: id && `sentry:${id}`,
    // Of an issue alert, Sentry does not send the end.
    isFiring: data.issue !== undefined && !isResolved,
    // Only events have tags. Each is a pair, as in ["browser", "Firefox 151"].
    labels: labelsOfList(event.tags, '0', '1'),
    url: textOf(event.web_url, event.permalink),
    identity:
      textOf(event.event_id) &&
      JSON.stringify([event.event_id, data.triggered_rule].map((each) => textOf(each))),
  };
}

function metricAlert(data: JsonObject, action: string): Item {
  const alert = objectAt(data.metric_alert, '/data/metric_alert');
  const severity = wordOf(action);
  const id = textOf(alert.id, alert.identifier);
  return {
    title: textOf(data.description_title, alert.title) ?? 'Sentry',
    message: textOf(data.description_text),
    severity,
    level: usualLevel(severity, 'error'),
    key: id && `sentry:metric:${id}`,
    isFiring: severity !== 'resolved',
    url: textOf(data.web_url),
    identity: JSON.stringify(
      [id, action, alert.date_detected, alert.date_closed].map((each) => textOf(each)),
    ),
  };
}
