/** Payloads for chats, pagers and error trackers, and the notifications that they become. */
import { labelsText } from '#contract/history/labels.ts';
import type { WebhookCase } from './integration.ts';

const trigger = {
  payload: {
    summary: 'DISK at 99% on machine prod-datapipe03.example.com',
    timestamp: '2015-07-17T08:42:58.315+0000',
    severity: 'critical',
    source: 'prod-datapipe03.example.com',
    component: 'mysql',
    group: 'prod-datapipe',
    class: '',
    custom_details: { 'ping time': '1500ms', 'load avg': 0.75 },
  },
  routing_key: 'samplekeyhere',
  dedup_key: 'samplekeyhere',
  event_action: 'trigger',
  client: 'Sample Monitoring Service',
  client_url: 'https://monitoring.service.com',
  links: [{ href: 'http://pagerduty.example.com', text: 'An example link' }],
};
const sentryEvent = {
  action: 'triggered',
  installation: { uuid: 'a8e5d37a' },
  data: {
    event: {
      event_id: 'e4874d664c3540c1a32eab185f12c5ab',
      issue_id: '1170820242',
      level: 'error',
      title: 'ReferenceError: heck is not defined',
      culprit: '?(<anonymous>)',
      project: 1,
      tags: [
        ['browser', 'Chrome 75.0.3770'],
        ['browser.name', 'Chrome'],
        ['level', 'error'],
        ['browser', 'Firefox 151'],
      ],
      web_url: 'https://sentry.io/organizations/test-org/issues/1170820242/events/e4874d66/',
    },
    triggered_rule: 'Very Important Alert Rule!',
  },
  actor: { type: 'application', id: 'sentry', name: 'Sentry' },
};
const metricAlert = {
  action: 'critical',
  data: {
    metric_alert: {
      id: '7',
      identifier: '1',
      title: 'Number of errors',
      date_detected: '2020-09-07T18:00:00Z',
      date_closed: null,
    },
    description_text: '1000 events in the last 10 minutes',
    description_title: 'Critical: Number of errors',
    web_url: 'https://sentry.io/organizations/test-org/alerts/1/',
  },
};

export const alertCases: Readonly<Record<string, readonly WebhookCase[]>> = {
  slack: [
    {
      what: 'a text',
      body: { text: 'Hello, <https://example.org/a?b=1&amp;c|world> &lt;3' },
      items: [{ title: 'Hello, world (https://example.org/a?b=1&c) <3', level: 'info' }],
    },
    {
      what: 'an attachment',
      body: {
        username: 'prometheus',
        attachments: [
          {
            color: 'danger',
            title: 'DiskFull',
            title_link: 'https://example.org/1',
            text: '/var',
            fallback: 'x',
            fields: [{ title: 'Host', value: 'db-01', short: true }],
          },
        ],
      },
      items: [
        {
          title: 'DiskFull',
          message: 'DiskFull\n\n/var\n\nHost: db-01',
          level: 'error',
          url: 'https://example.org/1',
        },
      ],
    },
    {
      what: 'blocks',
      body: {
        blocks: [
          { type: 'header', text: { type: 'plain_text', text: 'Deploy' } },
          { type: 'divider' },
          { type: 'section', text: { type: 'mrkdwn', text: 'done' } },
        ],
      },
      items: [{ title: 'Deploy', message: 'Deploy\n\ndone', level: 'info' }],
    },
  ],
  pagerduty: [
    {
      what: 'a trigger',
      body: trigger,
      items: [
        {
          title: trigger.payload.summary,
          message: 'ping time: 1500ms\nload avg: 0.75',
          level: 'critical',
          host: 'prod-datapipe03.example.com',
          key: 'pagerduty:samplekeyhere',
          url: 'http://pagerduty.example.com',
          labels: labelsText({ component: 'mysql', group: 'prod-datapipe' }),
        },
      ],
      once: true,
    },
    {
      what: 'nested details',
      body: {
        ...trigger,
        payload: {
          ...trigger.payload,
          custom_details: { firing: { instance: 'db-01' }, list: ['x', 'y'], num: 3, nothing: null },
        },
      },
      items: [{ message: 'firing: {"instance":"db-01"}\nlist: ["x","y"]\nnum: 3' }],
      once: true,
    },
    {
      what: 'a resolve',
      body: { routing_key: 'x', dedup_key: 'samplekeyhere', event_action: 'resolve' },
      items: [{ title: 'Resolved: samplekeyhere', level: 'success', key: 'pagerduty:samplekeyhere' }],
    },
    {
      what: 'an acknowledgement',
      body: { routing_key: 'x', dedup_key: 'samplekeyhere', event_action: 'acknowledge' },
      items: [],
    },
  ],
  sentry: [
    {
      what: 'an issue alert',
      body: sentryEvent,
      items: [
        {
          title: 'ReferenceError: heck is not defined',
          message: '?(<anonymous>)\nVery Important Alert Rule!',
          level: 'error',
          key: 'sentry:1170820242',
          url: sentryEvent.data.event.web_url,
          labels: labelsText({ browser: 'Chrome 75.0.3770', 'browser.name': 'Chrome', level: 'error' }),
        },
      ],
      once: true,
    },
    {
      what: 'an issue that is resolved',
      body: {
        action: 'resolved',
        data: {
          issue: {
            id: '1170820242',
            title: 'ReferenceError',
            level: 'error',
            permalink: 'https://sentry.io/i/1',
          },
        },
      },
      items: [{ title: 'Resolved: ReferenceError', level: 'success', key: 'sentry:1170820242', ttl: null }],
    },
    {
      what: 'an issue that begins, which stays until it is resolved',
      body: { action: 'created', data: { issue: { id: '1170820242', title: 'Slow', level: 'warning' } } },
      items: [{ title: 'Slow', level: 'warning', key: 'sentry:1170820242', ttl: 0 }],
    },
    {
      what: 'an issue that somebody took',
      body: { action: 'assigned', data: { issue: { id: '1' } } },
      items: [],
    },
    {
      what: 'a metric alert',
      body: metricAlert,
      items: [{ title: 'Critical: Number of errors', level: 'critical', key: 'sentry:metric:7' }],
      once: true,
    },
    {
      what: 'its end',
      body: { ...metricAlert, action: 'resolved' },
      items: [{ level: 'success', key: 'sentry:metric:7' }],
      once: true,
    },
    {
      what: 'a comment',
      body: { action: 'created', data: { comment: 'works for me', issue_id: '1170820242' } },
      items: [],
    },
    {
      what: 'an installation',
      body: { action: 'created', data: { installation: { uuid: 'x' } } },
      items: [],
    },
  ],
};
