/** The page of integrations: what other software is set up with, and mappings. */
export const integrations = {
  about: 'Any software that can call a URL can send to Belfry. Choose your software to see its settings.',
  formats: 'Supported software',
  mappings: 'Mappings',
  createMapping: 'Create mapping',
  mappingsEmpty: 'No mappings',
  mappingsEmptyText:
    'A mapping turns any JSON into notifications. Create one, send to its address, and the last payload appears beside the fields.',
  mappingNameHint: 'Part of the address: lower-case letters, digits, “.”, “_” and “-”.',
  nameTaken: 'A mapping with this name exists.',
  nameWrong: 'Use lower-case letters, digits, “.”, “_” and “-”. Begin with a letter or digit.',
  changed: 'Changed',
  items: 'List',
  itemsHint:
    'JSON Pointer to a list, such as /events, with one notification for each item. Leave empty if the payload is one notification.',
  isRootList: 'The root is an array: one notification for each element',
  fieldsHint:
    'Fields hold text and placeholders. {/name} stands for a value of the item, {^/name} for a value of the whole payload.',
  'field.identity': 'Identity',
  identityHint: 'Belfry does not store a notification with the same identity again.',
  insert: 'Insert into “{{field}}”',
  levels: 'Map levels',
  levelsHint: 'The level for each word of the field “Level”. Use * for every other word.',
  levelWord: 'Word',
  addWord: 'Add word',
  removeWord: 'Remove word',
  payload: 'Payload',
  payloadHint: 'The last payload received, or JSON of your own. Nothing is stored.',
  payloadHintNew: 'Paste an example. Or save first and send to the address; the payload then appears here.',
  payloadTooLong: 'Too long for a preview: at most 64 KiB.',
  received: 'Received',
  useReceived: 'Use last payload',
  preview: 'Preview',
  previewCount_one: '{{count}} notification',
  previewCount_other: '{{count}} notifications',
  previewFailed: 'Can’t be read',
  previewNone: 'Enter a title and a payload to see the result.',
  noTitle: 'No title',
  deleteMappingTitle: 'Delete mapping “{{name}}”?',
  deleteMappingDo: 'Delete mapping',
  deleteMappingAbout: 'Requests to its address then get a 404 response.',
  filter: 'Filter by name',
  noneMatch: 'Not in this list? Create a mapping: it reads any JSON.',
  software: 'Software',
  payloadUrl: 'Payload URL',
  signingSecret: 'Secret',
  docs: 'Documentation',
  token: 'API token',
  tokenHint: 'Use one token for each sender, so that searches and rules can tell them apart.',
  chooseToken: 'Choose a token',
  askForToken: 'Ask an admin for a token for this sender.',
  tokenId: 'TOKEN-ID',
  noToken: 'The sender needs an API token. Create one first.',
  neverUsed: 'Nothing received with it yet',
  lastUsed: 'Last used',
  replaceToken: 'Replace {{token}} with the token. It was shown when it was created.',
  'where.alertmanager':
    'Add this receiver to alertmanager.yml, and reload Alertmanager. In Prometheus nothing changes.',
  'where.grafana':
    'In Grafana, open Alerting → Contact points, add a contact point of type Webhook, and enter the address. Under “Optional settings”, enter the scheme Bearer and the token as credentials. Or use a provisioning file.',
  'where.uptime-kuma':
    'In Uptime Kuma, open Settings → Notifications, add a notification of type Webhook, and enter the address. Choose application/json as the request body, and add these headers.',
  'where.github':
    'In the repository, open Settings → Webhooks → Add webhook. Enter the payload URL, the content type application/json, and the secret. GitHub signs its requests, so it does not need the token.',
  'where.gitea':
    'In the repository, open Settings → Webhooks → Add webhook. Enter the address as the target URL, and the token as the authorization header.',
  'where.gitlab':
    'In the project, open Settings → Webhooks. Enter the address as the URL, and the token as the secret token.',
  'where.ntfy':
    'Clients of ntfy use this address as their server. The topic becomes the host of the notification. Devices that can only GET a URL add /TOPIC/publish?message=…',
  'where.gotify':
    'Clients of Gotify use this address as their server, and the token as the application token.',
  'where.apprise': 'Give Apprise this URL.',
  'where.healthchecks':
    'In Healthchecks, open Integrations → Webhook. Enter the same for “down” and “up”: the method POST, the address, and this body and these headers.',
  'where.home-assistant':
    'Add this to your configuration, and restart Home Assistant. Automations then send with notify.belfry.',
  'where.zabbix':
    'In Zabbix, open Alerts → Media types, and create one of type Webhook with these parameters. The documentation has the other parameters and the script.',
  'where.sentry':
    'In Sentry, open Settings → Integrations, create an internal integration, enter this webhook URL, and turn on “Alert rule action”. The address contains the token.',
  'where.sns':
    'Create a subscription with the protocol HTTPS and this endpoint, without raw message delivery. Belfry confirms it by itself. The address contains the token.',
  'where.slack':
    'Enter this address as the URL of the Slack incoming webhook. The address contains the token.',
  'where.pagerduty':
    'Enter this address as the URL of PagerDuty’s Events API v2. The address contains the token; the routing key is not read.',
  'where.opsgenie': 'Enter this address as the API URL, and the token as the API key.',
  'where.cloudevents': 'Send events and batches of CloudEvents 1.0 as JSON to this address.',
  'where.curl': 'Scripts and programs send a notification with one HTTP request.',
} as const;
