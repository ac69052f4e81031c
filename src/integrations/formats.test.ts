import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { read, retryKeys } from '#test/support/integration.ts';
import { findWebhook, webhookNames } from './formats.ts';
import type { Format } from './incoming.ts';

const load = (name: string): Promise<Format> => (findWebhook(name) as { load(): Promise<Format> }).load();

interface Case {
  readonly what: string;
  readonly body: unknown;
  readonly headers?: Record<string, string>;
  /** Of each item: title, message, level, and what else is named. */
  readonly items: readonly object[];
  /** Whether it is told from every other event, so that a retry is not stored again. */
  readonly once?: boolean;
}

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
  url: 'https://zabbix.example.org/tr_events.php?triggerid=1234&eventid=4711',
};
const cloudevent = {
  specversion: '1.0',
  type: 'com.github.pull_request.opened',
  source: 'https://github.com/cloudevents/spec/pull',
  subject: '123',
  id: 'A234-1234-1234',
  time: '2018-04-05T17:31:00Z',
  datacontenttype: 'application/json',
  data: { message: 'a pull request', severity: 'warning', host: 'ci-01' },
};
const trigger = {
  payload: {
    summary: 'DISK at 99% on machine prod-datapipe03.example.com',
    timestamp: '2015-07-17T08:42:58.315+0000',
    severity: 'critical',
    source: 'prod-datapipe03.example.com',
    component: 'mysql',
    custom_details: { 'ping time': '1500ms', 'load avg': 0.75 },
  },
  routing_key: 'samplekeyhere',
  dedup_key: 'samplekeyhere',
  event_action: 'trigger',
  client: 'Sample Monitoring Service',
  client_url: 'https://monitoring.service.com',
  links: [{ href: 'http://pagerduty.example.com', text: 'An example link' }],
};
const pipeline = {
  object_kind: 'pipeline',
  object_attributes: {
    id: 31,
    ref: 'master',
    status: 'failed',
    detailed_status: 'failed',
    url: 'http://gitlab.example.org/gitlab-org/gitlab-test/-/pipelines/31',
  },
  project: {
    id: 1,
    name: 'Gitlab Test',
    web_url: 'http://gitlab.example.org/gitlab-org/gitlab-test',
    path_with_namespace: 'gitlab-org/gitlab-test',
  },
  commit: { id: 'bcbb5ec', title: 'test', message: 'test\n' },
};
const hookHeaders = {
  'X-Gitlab-Event': 'Pipeline Hook',
  'Idempotency-Key': 'f5e5f430-f57b-4e6e-9fac-d9128cd7232f',
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

const run = {
  action: 'completed',
  workflow_run: {
    id: 30433642,
    name: 'Build',
    display_title: 'Fix the tests',
    head_branch: 'main',
    status: 'completed',
    conclusion: 'failure',
    workflow_id: 159038,
    html_url: 'https://github.com/octo-org/octo-repo/actions/runs/30433642',
  },
  repository: { id: 1, full_name: 'octo-org/octo-repo' },
};
const githubHeaders = (event: string) => ({
  'X-GitHub-Event': event,
  'X-GitHub-Delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
});

const cases: Readonly<Record<string, readonly Case[]>> = {
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
      items: [{ title: 'New is down', key: 'healthchecks:New' }],
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
          key: 'zabbix:1234:10.0.0.5',
          url: problem.url,
        },
      ],
      once: true,
    },
    {
      what: 'its recovery',
      body: { ...problem, event_value: '0' },
      items: [{ level: 'success', key: 'zabbix:1234:10.0.0.5' }],
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
        data: { level: 'critical', key: 'leak', url: 'http://ha.local/', host: 'cellar' },
      },
      items: [{ title: 'Leak', level: 'critical', key: 'leak', url: 'http://ha.local/', host: 'cellar' }],
    },
  ],
  cloudevents: [
    {
      what: 'an event',
      body: cloudevent,
      items: [
        {
          title: 'com.github.pull_request.opened: 123',
          message: 'a pull request',
          level: 'warning',
          host: 'ci-01',
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
      },
      items: [{ title: 'com.example.someevent: Euro €', message: 'text', level: 'info' }],
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
        },
      ],
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
      items: [{ title: 'Resolved: ReferenceError', level: 'success', key: 'sentry:1170820242' }],
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
      what: 'an installation',
      body: { action: 'created', data: { installation: { uuid: 'x' } } },
      items: [],
    },
  ],
  github: [
    {
      what: 'a workflow that failed',
      body: run,
      headers: githubHeaders('workflow_run'),
      items: [
        {
          title: 'octo-org/octo-repo: Build failure on main',
          message: 'Fix the tests',
          level: 'error',
          key: 'github:octo-org/octo-repo:159038:main',
          url: run.workflow_run.html_url,
        },
      ],
      once: true,
    },
    {
      what: 'a workflow that runs',
      body: { ...run, workflow_run: { ...run.workflow_run, conclusion: null } },
      headers: githubHeaders('workflow_run'),
      items: [],
    },
    {
      what: 'a deployment',
      body: {
        deployment_status: {
          state: 'success',
          environment: 'production',
          description: 'done',
          target_url: 'https://shop.example.org',
        },
        repository: run.repository,
      },
      headers: githubHeaders('deployment_status'),
      items: [{ title: 'octo-org/octo-repo: deployment success on production', level: 'success' }],
    },
    {
      what: 'a pull request that is merged',
      body: {
        action: 'closed',
        pull_request: {
          number: 2,
          title: 'Update the README',
          merged: true,
          html_url: 'https://github.com/octo-org/octo-repo/pull/2',
        },
        repository: run.repository,
      },
      headers: githubHeaders('pull_request'),
      items: [
        { title: 'octo-org/octo-repo: pull request #2 merged', message: 'Update the README', level: 'info' },
      ],
    },
    {
      what: 'an alert of Dependabot, and its end',
      body: {
        action: 'fixed',
        alert: {
          number: 7,
          security_advisory: { severity: 'critical', summary: 'Prototype pollution' },
          html_url: 'https://github.com/a/b/security/7',
        },
        repository: run.repository,
      },
      headers: githubHeaders('dependabot_alert'),
      items: [
        {
          title: 'Resolved: octo-org/octo-repo: dependabot alert',
          message: 'Prototype pollution',
          level: 'success',
        },
      ],
    },
    {
      what: 'a release',
      body: {
        action: 'published',
        release: { tag_name: 'v1.1', name: 'Winter', body: 'Notes' },
        repository: run.repository,
      },
      headers: githubHeaders('release'),
      items: [{ title: 'octo-org/octo-repo: release v1.1', message: 'Winter\n\nNotes' }],
    },
    {
      what: 'a ping',
      body: { zen: 'Design for failure.', hook_id: 1 },
      headers: githubHeaders('ping'),
      items: [],
    },
  ],
  gitlab: [
    {
      what: 'a pipeline that failed',
      body: pipeline,
      headers: hookHeaders,
      items: [
        {
          title: 'gitlab-org/gitlab-test: pipeline failed on master',
          message: 'test',
          level: 'error',
          key: 'gitlab:gitlab-org/gitlab-test:pipeline:master',
          url: pipeline.object_attributes.url,
        },
      ],
      once: true,
    },
    {
      what: 'a pipeline that runs',
      body: { ...pipeline, object_attributes: { ...pipeline.object_attributes, status: 'running' } },
      items: [],
    },
    {
      what: 'a job',
      body: {
        object_kind: 'build',
        ref: 'gitlab-script-trigger',
        build_name: 'test',
        build_status: 'success',
        project_name: 'gitlab-org/gitlab-test',
        commit: { message: 'test' },
      },
      items: [
        { title: 'gitlab-org/gitlab-test: job test success on gitlab-script-trigger', level: 'success' },
      ],
    },
    {
      what: 'a deployment, by its environment',
      body: {
        object_kind: 'deployment',
        status: 'failed',
        environment: 'staging',
        ref: 'main',
        project: pipeline.project,
      },
      items: [
        {
          title: 'gitlab-org/gitlab-test: deployment failed on staging',
          key: 'gitlab:gitlab-org/gitlab-test:deployment:staging',
        },
      ],
    },
    {
      what: 'an issue',
      body: {
        object_kind: 'issue',
        project: pipeline.project,
        object_attributes: {
          iid: 23,
          title: 'New API: create/update/delete file',
          action: 'open',
          url: 'http://example.com/diaspora/issues/23',
        },
      },
      items: [
        {
          title: 'gitlab-org/gitlab-test: issue open',
          message: 'New API: create/update/delete file',
          level: 'info',
          url: 'http://example.com/diaspora/issues/23',
        },
      ],
    },
    {
      what: 'a release',
      body: {
        object_kind: 'release',
        tag: 'v1.1',
        name: 'v1.1 has been released',
        url: 'http://example.com/r',
        project: pipeline.project,
      },
      items: [{ title: 'gitlab-org/gitlab-test: release v1.1', message: 'v1.1 has been released' }],
    },
    { what: 'a push', body: { object_kind: 'push', project: pipeline.project }, items: [] },
  ],
};

const alert = {
  status: 'firing',
  labels: { alertname: 'A', instance: 'db-01:9100', severity: 'warning' },
  annotations: { summary: 's', description: 'd' },
  startsAt: '2026-11-22T20:00:00Z',
  generatorURL: 'http://a/',
};
const group = { alerts: [alert], truncatedAlerts: 1, groupKey: 'g', externalURL: 'http://a/' };
/** Formats with a test file of their own: a payload of each. */
const elsewhere: Readonly<Record<string, unknown>> = {
  alertmanager: group,
  grafana: group,
  'uptime-kuma': {
    heartbeat: { monitorID: 1, status: 0, time: 't', msg: 'm' },
    monitor: { id: 1, name: 'n', url: 'https://a/', hostname: 'h' },
    msg: 'm',
  },
};

it('every format has its cases', () => {
  expect([...Object.keys(elsewhere), ...Object.keys(cases)].toSorted()).toEqual(webhookNames.toSorted());
});

it('each is loaded when a sender first uses it, so that a server without them stays small', () => {
  const text = readFileSync(join(import.meta.dirname, 'formats.ts'), 'utf8');
  expect(text.match(/^import .*/gm)).toEqual(["import type { Format } from './incoming.ts';"]);
  const http = join(import.meta.dirname, '../http/intake');
  const eager = readdirSync(http)
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .flatMap((name) => [...readFileSync(join(http, name), 'utf8').matchAll(/from '#integrations\/([^']+)'/g)])
    .map(([, module]) => module);
  expect([...new Set(eager)].toSorted()).toEqual(['formats.ts', 'incoming.ts', 'severity.ts']);
});

describe.each(Object.entries(cases))('%s', (name, ofFormat) => {
  it.each(ofFormat)('takes $what', async ({ body, headers = {}, items, once }) => {
    const format = await load(name);
    expect(read(format, body, { headers })).toMatchObject(items);
    expect(read(format, body, { headers })).toHaveLength(items.length);
    const keys = retryKeys(format, body, { headers });
    if (once) expect(keys).toEqual(items.map(() => expect.any(String)));
    expect(retryKeys(format, structuredClone(body), { headers })).toEqual(keys);
  });
});

const bodies = [
  ...Object.entries(elsewhere).map(([name, body]) => ({ name, body, headers: {} })),
  ...Object.entries(cases).flatMap(([name, ofFormat]) =>
    ofFormat.map(({ what, body, headers = {} }) => ({ name: `${name}: ${what}`, body, headers })),
  ),
];

it.each(bodies)('any type in any place is refused or taken: $name', async ({ name, body, headers }) => {
  const format = await load(name.split(':')[0] ?? '');
  const odd = [null, 0, -1, 1e300, true, '', ' ', 'x', 'constructor', '\ud800', [], [null], {}, [[1]]];
  odd.push({ a: {} }, { toString: 1 });
  for (const path of pathsOf(body)) {
    for (const value of odd) {
      try {
        read(format, replaced(body, path, value), { headers });
      } catch (error) {
        expect([path, value, error]).toEqual([path, value, expect.objectContaining({ code: 'bad-request' })]);
      }
    }
  }
});

/** The path of every value in a value, itself first. */
function pathsOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([name, inner]) => pathsOf(inner, [...path, name]))];
}

function replaced(value: unknown, [name, ...rest]: readonly string[], by: unknown): unknown {
  if (name === undefined) return by;
  const copy = structuredClone(value) as Record<string, unknown>;
  copy[name] = replaced(copy[name], rest, by);
  return copy;
}
