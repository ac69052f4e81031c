/** Payloads of monitors and event sources, and the notifications that they become. */
import { labelsText } from '#contract/history/labels.ts';
import type { WebhookCase } from './integration.ts';

const check = {
  name: 'Nightly backup',
  slug: 'nightly-backup',
  tags: 'prod db',
  desc: 'pg_dump of the shop',
  grace: 3600,
  n_pings: 7,
  status: 'down',
  started: false,
  last_ping: '2026-11-21T02:03:04+00:00',
  next_ping: null,
  manual_resume: false,
  methods: '',
  uuid: '31365bce-8da9-4729-8ff3-aaa71d56b712',
  ping_url: 'https://hc.example.org/31365bce-8da9-4729-8ff3-aaa71d56b712',
};
const problem = {
  alert_subject: 'Problem: High CPU utilization',
  alert_message: 'Problem started at 12:00:00\nHost: db-01',
  event_id: '4711',
  event_value: '1',
  event_update_status: '0',
  event_nseverity: '4',
  event_severity: 'High',
  host_name: 'db-01',
  host_ip: '10.0.0.5',
  trigger_id: '1234',
  event_tags_json:
    '[{"tag":"scope","value":"performance"},{"tag":"scope","value":"cpu"},{"tag":"target os","value":"linux"},{"tag":"nightly","value":""}]',
  url: 'https://zabbix.example.org/tr_events.php?triggerid=1234&eventid=4711',
};
/** Zabbix leaves macros of triggers and hosts as they are. */
const service = {
  alert_subject: 'Service "Shop" is down',
  alert_message: 'm',
  event_id: '9101',
  event_value: '1',
  event_update_status: '0',
  event_update_time: '{EVENT.UPDATE.TIME}',
  event_nseverity: '5',
  host_name: '{HOST.NAME}',
  host_ip: '{HOST.IP}',
  trigger_id: '{TRIGGER.ID}',
  event_tags_json: '{EVENT.TAGSJSON}',
};
const labels = { entity: 'binary_sensor.leak', area: 'cellar' };
const cloudevent = {
  specversion: '1.0',
  type: 'com.github.pull_request.opened',
  source: 'https://github.com/cloudevents/spec/pull',
  subject: '123',
  id: 'A234-1234-1234',
  time: '2018-04-05T17:31:00Z',
  datacontenttype: 'application/json',
  comexampleextension1: 'value',
  comexampleothervalue: 5,
  data: { message: 'a pull request', severity: 'warning', host: 'ci-01' },
};

export const monitorCases: Readonly<Record<string, readonly WebhookCase[]>> = {
  healthchecks: [
    {
      what: 'a check that is late',
      body: check,
      items: [
        {
          title: 'Nightly backup is down',
          message: 'Nightly backup last reported at 2026-11-21T02:03:04+00:00.\n\npg_dump of the shop',
          level: 'error',
          key: `healthchecks:${check.uuid}`,
          labels: labelsText({ prod: '', db: '' }),
        },
      ],
      once: true,
    },
    {
      what: 'a check that reports again',
      body: { ...check, status: 'up' },
      items: [{ level: 'success', key: `healthchecks:${check.uuid}` }],
      once: true,
    },
    {
      what: 'a check that never reported',
      body: { name: 'New', status: 'down', last_ping: null },
      items: [{ title: 'New is down', key: 'healthchecks:New', labels: null }],
    },
  ],
  zabbix: [
    {
      what: 'a problem',
      body: problem,
      items: [
        {
          title: problem.alert_subject,
          message: problem.alert_message,
          level: 'error',
          host: 'db-01',
          key: 'zabbix:4711',
          url: problem.url,
          labels: labelsText({ scope: 'performance', target_os: 'linux', nightly: '' }),
        },
      ],
      once: true,
    },
    {
      what: 'its recovery',
      body: { ...problem, event_value: '0' },
      items: [{ level: 'success', key: 'zabbix:4711' }],
      once: true,
    },
    {
      what: 'a disaster of a host with a name in words',
      body: { ...problem, event_nseverity: '5', host_name: 'Zabbix server' },
      items: [{ level: 'critical', host: null, ip: '10.0.0.5' }],
    },
    {
      what: 'what is not classified',
      body: { ...problem, event_nseverity: '0' },
      items: [{ level: 'info' }],
    },
    {
      what: 'a service that is down',
      body: service,
      items: [{ level: 'critical', host: null, ip: null, key: 'zabbix:9101', ttl: 0, labels: null }],
      once: true,
    },
    {
      what: 'the end of another service',
      body: { ...service, alert_subject: 'Resolved: Service "Mail"', event_id: '9102', event_value: '0' },
      items: [{ level: 'success', host: null, ip: null, key: 'zabbix:9102' }],
      once: true,
    },
    {
      what: 'an event without an end, and the test of a media type',
      body: {
        ...service,
        alert_subject: '{ALERT.SUBJECT}',
        alert_message: '*UNKNOWN*',
        event_id: '{EVENT.ID}',
        event_value: '{EVENT.VALUE}',
        event_nseverity: '{EVENT.NSEVERITY}',
      },
      items: [{ title: 'Zabbix', message: 'Zabbix', level: 'info', key: null, ttl: null }],
    },
  ],
  'home-assistant': [
    {
      what: 'a message',
      body: { message: 'The sun has set', target: 'x' },
      items: [{ title: 'Home Assistant', message: 'The sun has set', level: 'info' }],
    },
    {
      what: 'a message with data',
      body: {
        message: 'Water in the cellar',
        title: 'Leak',
        data: { level: 'critical', key: 'leak', url: 'http://ha.local/', host: 'cellar', labels },
      },
      items: [{ title: 'Leak', level: 'critical', key: 'leak', url: 'http://ha.local/', host: 'cellar' }],
    },
    {
      what: 'a message with labels beside it',
      body: { message: 'Water in the cellar', labels: { ...labels, attributes: {} } },
      items: [{ title: 'Home Assistant', labels: labelsText(labels) }],
    },
  ],
  cloudevents: [
    {
      what: 'an event of Harbor',
      body: { ...cloudevent, data: { repository: { name: 'shop' }, resources: [{ tag: '1.2' }] } },
      items: [
        {
          message: `source: ${cloudevent.source}\nrepository: {"name":"shop"}\nresources: [{"tag":"1.2"}]`,
        },
      ],
      once: true,
    },
    {
      what: 'an event',
      body: cloudevent,
      items: [
        {
          title: 'com.github.pull_request.opened: 123',
          message: 'a pull request',
          level: 'warning',
          host: 'ci-01',
          labels: labelsText({
            type: cloudevent.type,
            source: cloudevent.source,
            comexampleextension1: 'value',
            comexampleothervalue: '5',
          }),
        },
      ],
      once: true,
    },
    {
      what: 'a batch',
      body: [cloudevent, { ...cloudevent, id: 'B', subject: undefined, data: undefined }],
      items: [
        { level: 'warning' },
        { title: 'com.github.pull_request.opened', message: `source: ${cloudevent.source}`, level: 'info' },
      ],
      once: true,
    },
    {
      what: 'an event in headers',
      body: 'text',
      headers: {
        'ce-specversion': '1.0',
        'ce-type': 'com.example.someevent',
        'ce-source': '/mycontext',
        'ce-id': '1',
        'ce-subject': 'Euro%20%E2%82%AC',
        'ce-team': 'Z%C3%BCrich',
        'X-Team': 'x',
      },
      items: [
        {
          ...{ title: 'com.example.someevent: Euro €', message: 'text', level: 'info' },
          labels: labelsText({ type: 'com.example.someevent', source: '/mycontext', team: 'Zürich' }),
        },
      ],
      once: true,
    },
  ],
  apprise: [
    {
      what: 'a notification',
      body: {
        version: '1.0',
        title: 'Some Great Software Downloads Title',
        message: 'Plenty of details here',
        attachments: [],
        type: 'failure',
      },
      items: [
        { title: 'Some Great Software Downloads Title', message: 'Plenty of details here', level: 'error' },
      ],
    },
    {
      what: 'one without a title',
      body: { version: '1.0', title: '', message: 'Body', attachments: [], type: 'info' },
      items: [{ title: 'Body', message: 'Body', level: 'info' }],
    },
  ],
};
