import { describe, expect, it } from 'vitest';
import { noTexts } from '#contract/history/fields.ts';
import { type Labels, labelEntries, labelsOf, labelsText } from '#contract/history/labels.ts';
import { read, retryKeys } from '#test/support/integration.ts';
import { alertmanager } from './alertmanager.ts';
import { grafana } from './grafana.ts';

/** As Alertmanager 0.25 sends it. */
const group = {
  receiver: 'belfry',
  status: 'firing',
  alerts: [
    {
      status: 'firing',
      labels: { alertname: 'DiskFull', instance: 'db-01:9100', job: 'node', severity: 'critical' },
      annotations: { description: '/var is at 97 %', summary: 'Disk almost full' },
      startsAt: '2026-11-22T20:00:00.123Z',
      endsAt: '0001-01-01T00:00:00Z',
      generatorURL: 'http://prometheus.example.org:9090/graph?g0.expr=x&g0.tab=1',
      fingerprint: '8a7b1c2d3e4f5061',
    },
    {
      status: 'resolved',
      labels: { alertname: 'TargetDown', instance: '10.0.0.5:9100', job: 'node' },
      annotations: {},
      startsAt: '2026-11-22T19:00:00.000Z',
      endsAt: '2026-11-22T20:01:00.000Z',
      generatorURL: '',
      fingerprint: '0011223344556677',
    },
  ],
  groupLabels: { job: 'node' },
  commonLabels: { job: 'node' },
  commonAnnotations: {},
  externalURL: 'http://alertmanager.example.org:9093',
  version: '4',
  groupKey: '{}:{job="node"}',
  truncatedAlerts: 0,
};
const [firing, resolved] = group.alerts as [(typeof group.alerts)[0], (typeof group.alerts)[1]];
const of = (...alerts: object[]) => ({ ...group, alerts });

describe("Alertmanager's webhook", () => {
  it('is one notification for each alert, by its own status, host and key', () => {
    expect(read(alertmanager, group)).toEqual([
      {
        ...noTexts,
        title: 'Disk almost full',
        message: '/var is at 97 %',
        level: 'critical',
        ttl: 0,
        host: 'db-01',
        key: 'alertmanager:8a7b1c2d3e4f5061',
        url: 'http://prometheus.example.org:9090/graph?g0.expr=x&g0.tab=1',
        labels: labelsText(firing.labels),
      },
      {
        ...noTexts,
        title: 'Resolved: TargetDown',
        message: 'alertname: TargetDown\ninstance: 10.0.0.5:9100\njob: node',
        level: 'success',
        ttl: null,
        ip: '10.0.0.5',
        key: 'alertmanager:0011223344556677',
        labels: labelsText(resolved.labels as unknown as Labels),
      },
    ]);
  });

  it('has the labels of its alert, without its annotations', () => {
    const [first] = read(alertmanager, group);
    expect(labelsOf(first?.labels ?? null)).toEqual(firing.labels);
  });

  it('has the link of its runbook as a label, whatever other labels it has, and none that is cut or no link', () => {
    const runbookOf = (runbook_url: unknown, labels: object = firing.labels) =>
      labelsOf(read(alertmanager, of({ ...firing, labels, annotations: { runbook_url } }))[0]?.labels ?? null)
        .runbook_url;
    const url = 'https://wiki.example.org/disk?a=1#full';
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`l${i}`, 'x']));
    expect(runbookOf(url)).toBe(url);
    expect(runbookOf(url, many)).toBe(url);
    expect(runbookOf(url, { runbook_url: 'https://other.example.org' })).toBe(url);
    for (const none of ['javascript:alert(1)', 'disk.md', '', 7, `https://a/${'x'.repeat(250)}`])
      expect(runbookOf(none)).toBeUndefined();
  });

  it('keeps the first 32 of many labels, made to fit, and of two with one name the first', () => {
    const many = Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`l${i}`, 'x']));
    const hostile = {
      'a b': 'first',
      a_b: 'second',
      ['__proto__']: 'p',
      list: [],
      empty: '',
      long: 'x'.repeat(1e6),
      ...many,
    };
    const [item] = read(alertmanager, of({ ...firing, labels: hostile }));
    const labels = labelEntries(item?.labels ?? null);
    expect(labels).toHaveLength(32);
    expect(labels).toContainEqual(['a_b', 'first']);
    expect(labels).toContainEqual(['__proto__', 'p']);
    for (const name of ['list', 'empty']) expect(labels.map(([named]) => named)).not.toContain(name);
    expect(Math.max(...labels.map(([, value]) => value.length))).toBe(255);
  });

  it('stays on panels until its resolve, unless it is only an info', () => {
    const ttls = (query: string) =>
      ['warning', 'info', 'ticket'].map((severity) => {
        const alert = { ...firing, labels: { ...firing.labels, severity } };
        return read(alertmanager, of(alert), { query })[0]?.ttl;
      });
    expect(ttls('')).toEqual([0, null, 0]);
    expect(ttls('level=warning:info,info:low')).toEqual([null, 0, 0]);
  });

  it('gives an alert and its resolve one key, also where it sends no fingerprint', () => {
    const { fingerprint: _, ...old } = firing;
    const [alert] = read(alertmanager, of(old));
    const reordered = { ...old, labels: Object.fromEntries(Object.entries(old.labels).toReversed()) };
    expect(read(alertmanager, of({ ...reordered, status: 'resolved' }))[0]?.key).toBe(alert?.key);
    const other = { ...old, labels: { ...old.labels, instance: 'db-02:9100' } };
    expect(read(alertmanager, of(other))[0]?.key).not.toBe(alert?.key);
  });

  it('without a time of its own is new each time', () => {
    const { startsAt: _, ...timeless } = firing;
    expect(retryKeys(alertmanager, of(timeless))).toEqual([null]);
  });

  it('refuses an alert with more than 1,000 labels', () => {
    const labels = Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [`l${i}`, 'x']));
    expect(() => read(alertmanager, of({ ...firing, labels }))).toThrow(
      expect.objectContaining({ code: 'bad-request', message: 'an alert must have at most 1000 labels' }),
    );
  });

  it('sent again is the same; resolved, or fired anew, it is not', () => {
    const [first] = retryKeys(alertmanager, of(firing));
    expect(retryKeys(alertmanager, group)[0]).toBe(first);
    const later = { ...firing, startsAt: '2026-11-22T23:00:00.000Z' };
    expect(retryKeys(alertmanager, of({ ...firing, status: 'resolved' }, later))).not.toContain(first);
  });

  it.each([
    ['critical', 'critical'],
    ['page', 'critical'],
    ['warning', 'warning'],
    ['Info', 'info'],
    ['none', 'info'],
    ['sev-7', 'error'],
    [undefined, 'error'],
  ])('severity %s is %s', (severity, level) => {
    const labels = { alertname: 'A', ...(severity !== undefined && { severity }) };
    expect(read(alertmanager, of({ ...firing, labels }))[0]?.level).toBe(level);
  });

  it('takes levels from the query, by severity, for resolved, and for what has none', () => {
    const query = 'level=critical:alarm,resolved:info,warn';
    expect(read(alertmanager, group, { query }).map(({ level }) => level)).toEqual(['alarm', 'info']);
    const plain = { ...firing, labels: { alertname: 'A' } };
    expect(read(alertmanager, of(plain), { query })[0]?.level).toBe('warn');
  });

  it('counts the alerts that max_alerts left out', () => {
    const items = read(alertmanager, { ...of(firing), truncatedAlerts: 7 });
    expect(items.map(({ title }) => title)).toEqual(['Disk almost full', '7 more alerts']);
  });

  it('the count of left out alerts is the same when it is sent again', () => {
    const [, first] = retryKeys(alertmanager, { ...of(firing), truncatedAlerts: 7 });
    expect(first).toEqual(expect.any(String));
    expect(retryKeys(alertmanager, { ...of(firing), truncatedAlerts: 7 })[1]).toBe(first);
    expect(retryKeys(alertmanager, { ...of(resolved), truncatedAlerts: 7 })[1]).not.toBe(first);
  });

  it('of a storm has the first 1,000 alerts, and one that counts the others', () => {
    const alerts = Array.from({ length: 1_234 }, (_, i) => ({ ...firing, fingerprint: `f${i}` }));
    const found = read(alertmanager, of(...alerts));
    expect(found).toHaveLength(1_001);
    expect(found[999]).toMatchObject({ key: 'alertmanager:f999' });
    expect(found[1_000]).toMatchObject({ title: '234 more were not stored', level: 'warning', key: null });
    expect(retryKeys(alertmanager, of(...alerts)).at(-1)).not.toBeNull();
  });

  it('without alerts is nothing', () => {
    expect(read(alertmanager, of())).toEqual([]);
  });

  it.each([
    [undefined, 'the body must be a JSON object'],
    [[], 'the body must be a JSON object'],
    [{}, 'alerts must be a list'],
    [{ alerts: ['x'] }, 'alerts[0] must be a JSON object'],
    [of(firing, { ...firing, status: 'up' }), 'alerts[1].status must be one of firing, resolved'],
    [of({ ...firing, labels: [] }), 'alerts[0].labels must be a JSON object'],
  ])('of another form is refused: %#', (body, message) => {
    expect(() => read(alertmanager, body)).toThrow(message);
  });
});

describe("Grafana's webhook", () => {
  it('has the reason why a rule could not be evaluated', () => {
    const labels = { alertname: 'DatasourceError', datasource_uid: 'P1', ref_id: 'A', rulename: 'Disk full' };
    const annotations = { Error: 'failed to execute query A: connection refused' };
    expect(read(grafana, of({ ...firing, labels, annotations }))).toMatchObject([
      { title: 'DatasourceError: Disk full', message: annotations.Error },
    ]);
  });

  it('links to the panel, then the dashboard, then the rule', () => {
    const alert = {
      ...firing,
      values: { A: 97 },
      valueString: '[ var=A value=97 ]',
      dashboardURL: 'https://grafana.example.org/d/1',
      panelURL: 'https://grafana.example.org/d/1?viewPanel=2',
      silenceURL: 'https://grafana.example.org/alerting/silence/new',
    };
    const grafanas = {
      ...of(alert, { ...alert, panelURL: '' }, { ...alert, panelURL: '', dashboardURL: '' }),
      orgId: 1,
      version: '1',
      title: '[FIRING:3] DiskFull',
      state: 'alerting',
      message: '**Firing**',
    };
    expect(read(grafana, grafanas).map(({ url, key }) => [url, key])).toEqual([
      ['https://grafana.example.org/d/1?viewPanel=2', 'grafana:8a7b1c2d3e4f5061'],
      ['https://grafana.example.org/d/1', 'grafana:8a7b1c2d3e4f5061'],
      [firing.generatorURL, 'grafana:8a7b1c2d3e4f5061'],
    ]);
  });
});

it('an alert of Grafana about missing data names its rule instead of the summary, which is not known to be true', () => {
  const labels = { alertname: 'DatasourceNoData', rulename: 'CPU' };
  const alert = { status: 'firing', labels, annotations: { summary: 'CPU above 90 %' } };
  expect(read(grafana, { alerts: [alert] })[0]?.title).toBe('DatasourceNoData: CPU');
  const other = { ...alert, labels: { ...labels, alertname: 'CPU' } };
  expect(read(grafana, { alerts: [other] })[0]?.title).toBe('CPU above 90 %');
});
