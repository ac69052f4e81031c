/** The formats of other software that this server takes, each with its address and what is entered there. */

/** What the examples are filled in with. */
export interface Sender {
  /** Of this server, as in https://belfry.example.org. */
  readonly origin: string;
  /** The token, or a sign for it where its text is not known. */
  readonly token: string;
}

interface Example {
  /** The file or the field that it is for, by its own name. */
  readonly label: string;
  readonly text: string;
}

type FormatName =
  | 'alertmanager'
  | 'apprise'
  | 'cloudevents'
  | 'curl'
  | 'gitea'
  | 'github'
  | 'gitlab'
  | 'gotify'
  | 'grafana'
  | 'healthchecks'
  | 'home-assistant'
  | 'ntfy'
  | 'opsgenie'
  | 'pagerduty'
  | 'sentry'
  | 'slack'
  | 'sns'
  | 'uptime-kuma'
  | 'zabbix';

/** The name chooses the sentence that says where the address is entered. */
export interface SenderFormat {
  readonly name: FormatName;
  readonly title: string;
  readonly path: string;
  /** Its section of the documentation. */
  readonly section: string;
  /** It signs with the token's signing secret; its address ends with the token's id. */
  readonly isSigned?: true;
  /** It accepts nothing but an address: the token is the password in it. */
  readonly isAddressOnly?: true;
  readonly examples?: (sender: Sender, url: string) => readonly Example[];
}

const integration = (name: string) => ({ path: `/api/integrations/${name}` });
const bearer = ({ token }: Sender) => `Authorization: Bearer ${token}`;
/** The token as the password of basic authentication. */
export const addressWithToken = ({ token }: Sender, url: string): string =>
  url.replace('://', `://belfry:${token}@`);
/** Its body must have no single quote. */
export const curlJson = (sender: Sender, url: string, body: string): Example => ({
  label: 'curl',
  text: `curl '${url}' \\\n  -H '${bearer(sender)}' \\\n  -H 'Content-Type: application/json' \\\n  -d '${body}'`,
});

export const formats: readonly SenderFormat[] = [
  {
    ...{ name: 'alertmanager', title: 'Prometheus Alertmanager', section: 'prometheus-alertmanager' },
    ...integration('alertmanager'),
    examples: ({ token }, url) => [
      {
        label: 'alertmanager.yml',
        text: `route:
  receiver: belfry
receivers:
  - name: belfry
    webhook_configs:
      - url: ${url}
        max_alerts: 200
        http_config:
          authorization:
            credentials: ${token}`,
      },
    ],
  },
  {
    ...{ name: 'grafana', title: 'Grafana', section: 'grafana' },
    ...integration('grafana'),
    examples: ({ token }, url) => [
      {
        label: 'provisioning/alerting/belfry.yaml',
        text: `apiVersion: 1
contactPoints:
  - orgId: 1
    name: Belfry
    receivers:
      - uid: belfry
        type: webhook
        settings:
          url: ${url}
          httpMethod: POST
          authorization_scheme: Bearer
          authorization_credentials: ${token}`,
      },
    ],
  },
  {
    ...{ name: 'uptime-kuma', title: 'Uptime Kuma', section: 'uptime-kuma' },
    ...integration('uptime-kuma'),
    examples: ({ token }) => [
      { label: 'Additional Headers', text: `{ "Authorization": "Bearer ${token}" }` },
    ],
  },
  {
    ...{ name: 'github', title: 'GitHub', section: 'gitea-forgejo-github', isSigned: true },
    ...integration('github'),
  },
  {
    ...{ name: 'gitea', title: 'Gitea, Forgejo', section: 'gitea-forgejo-github' },
    ...integration('github'),
    examples: ({ token }) => [{ label: 'Authorization Header', text: `Bearer ${token}` }],
  },
  {
    ...{ name: 'gitlab', title: 'GitLab', section: 'gitlab' },
    ...integration('gitlab'),
    examples: ({ token }) => [{ label: 'Secret token', text: token }],
  },
  {
    ...{ name: 'ntfy', title: 'ntfy', path: '/ntfy', section: 'ntfy' },
    examples: ({ token }, url) => [
      {
        label: 'curl',
        text: `curl -u ':${token}' -H 'Title: Backup' -H 'Priority: high' -d 'Disk almost full' '${url}/backups'`,
      },
    ],
  },
  {
    ...{ name: 'gotify', title: 'Gotify', path: '/gotify', section: 'gotify' },
    examples: ({ token }, url) => [
      {
        label: 'curl',
        text: `curl -H 'X-Gotify-Key: ${token}' -F 'title=Backup' -F 'message=done' -F 'priority=5' '${url}/message'`,
      },
    ],
  },
  {
    ...{ name: 'apprise', title: 'Apprise', section: 'apprise' },
    ...integration('apprise'),
    examples: (sender, url) => [
      {
        label: 'apprise',
        text: `apprise -t 'Backup' -b 'done' -n success '${addressWithToken(sender, url).replace(/^http/, 'json')}'`,
      },
    ],
  },
  {
    ...{ name: 'healthchecks', title: 'Healthchecks', section: 'healthchecks' },
    ...integration('healthchecks'),
    examples: (sender) => [
      { label: 'Request Body', text: '$JSON' },
      { label: 'Request Headers', text: `Content-Type: application/json\n${bearer(sender)}` },
    ],
  },
  {
    ...{ name: 'home-assistant', title: 'Home Assistant', section: 'home-assistant' },
    ...integration('home-assistant'),
    examples: ({ token }, url) => [
      { label: 'secrets.yaml', text: `belfry: Bearer ${token}` },
      {
        label: 'configuration.yaml',
        text: `notify:
  - name: belfry
    platform: rest
    resource: ${url}
    method: POST_JSON
    title_param_name: title
    headers:
      Authorization: !secret belfry
    data:
      level: "{{ (data | default({})).level | default('info') }}"
      key: "{{ (data | default({})).key | default('') }}"`,
      },
    ],
  },
  {
    ...{ name: 'zabbix', title: 'Zabbix', section: 'zabbix' },
    ...integration('zabbix'),
    examples: ({ origin, token }) => [
      { label: 'belfry_url', text: origin },
      { label: 'token', text: token },
    ],
  },
  {
    ...{ name: 'sentry', title: 'Sentry', section: 'sentry', isAddressOnly: true },
    ...integration('sentry'),
  },
  {
    ...{
      name: 'sns',
      title: 'Amazon SNS, CloudWatch',
      section: 'amazon-sns-cloudwatch',
      isAddressOnly: true,
    },
    ...integration('sns'),
  },
  {
    ...{ name: 'slack', title: 'Slack', section: 'slack', isAddressOnly: true },
    ...integration('slack'),
  },
  {
    ...{ name: 'pagerduty', title: 'PagerDuty', section: 'pagerduty', isAddressOnly: true },
    ...integration('pagerduty'),
    examples: (sender, url) => [
      curlJson(
        sender,
        url,
        '{"event_action": "trigger", "dedup_key": "db-01/disk", "routing_key": "-", "payload": {"summary": "Disk almost full", "source": "db-01", "severity": "critical"}}',
      ),
    ],
  },
  {
    ...{ name: 'opsgenie', title: 'Opsgenie', section: 'opsgenie', path: '/api/integrations/opsgenie/' },
    examples: ({ token }) => [{ label: 'API key', text: token }],
  },
  {
    ...{ name: 'cloudevents', title: 'CloudEvents', section: 'cloudevents' },
    ...integration('cloudevents'),
    examples: (sender, url) => [
      {
        label: 'curl',
        text: `curl '${url}' \\
  -H '${bearer(sender)}' \\
  -H 'Content-Type: application/json' \\
  -H 'ce-specversion: 1.0' \\
  -H 'ce-type: org.example.backup.done' \\
  -H 'ce-source: /backups' \\
  -H 'ce-id: 4711' \\
  -d '{"message": "done", "severity": "success"}'`,
      },
    ],
  },
  {
    ...{ name: 'curl', title: 'curl', path: '/api/notify', section: 'scripts-and-cron' },
    examples: (sender, url) => [
      curlJson(sender, url, '{"title": "Backup", "message": "done", "level": "success"}'),
    ],
  },
];
