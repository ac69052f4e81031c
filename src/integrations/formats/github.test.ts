import { expect, it } from 'vitest';
import { labelsText } from '#contract/history/labels.ts';
import { read, retryKeys } from '#test/support/integration.ts';
import { github } from './github.ts';
import { gitlab } from './gitlab.ts';

it('a signed body that is sent again with another delivery is a repeat', () => {
  const body = { ref: 'refs/heads/main', commits: [{ message: 'Fix' }], repository: { full_name: 'a/b' } };
  const keys = (delivery: string, signature?: string) =>
    retryKeys(github, body, {
      headers: {
        'X-GitHub-Event': 'push',
        'X-GitHub-Delivery': delivery,
        ...(signature !== undefined && { 'X-Hub-Signature-256': signature }),
      },
    });
  expect(keys('1', 'sha256=a')).toHaveLength(1);
  expect(keys('1', 'sha256=a')).toEqual(keys('2', 'sha256=a'));
  expect(keys('1', 'sha256=a')).not.toEqual(keys('1', 'sha256=b'));
  expect(keys('1')).not.toEqual(keys('2'));
});

it('runs of two workflows of one branch are two, also those of Gitea, whose runs do not name them', () => {
  const headers = { 'X-GitHub-Event': 'workflow_run' };
  const run = { conclusion: 'failure', head_branch: 'main', display_title: 'Fix' };
  const repository = { full_name: 'a/b' };
  const of = (body: object) => read(github, { workflow_run: run, repository, ...body }, { headers })[0];
  expect(of({ workflow_run: { ...run, name: 'CI', workflow_id: 3 } })).toMatchObject({
    title: 'a/b: CI failure on main',
    key: 'github:a/b:3:main',
  });
  expect(of({ workflow: { id: 'ci.yml', name: 'CI' } })).toMatchObject({
    title: 'a/b: CI failure on main',
    key: 'github:a/b:ci.yml:main',
  });
  expect(of({ workflow_run: { ...run, path: 'lint.yml@refs/heads/main' } })?.key).toContain('lint.yml');
});

it('runs of Forgejo, which has names of its own for them, replace each other', () => {
  const run = {
    title: 'Fix',
    workflow_id: 'ci.yml',
    prettyref: 'main',
    status: 'failure',
    html_url: 'https://code.example.org/a/b/actions/runs/7',
    repository: { full_name: 'a/b' },
  };
  const of = (event: string, status: string) =>
    read(github, { action: status, run: { ...run, status } }, { headers: { 'X-GitHub-Event': event } })[0];
  expect(of('action_run_failure', 'failure')).toMatchObject({
    title: 'a/b: ci.yml failure on main',
    message: 'Fix',
    level: 'error',
    key: 'github:a/b:ci.yml:main',
    url: run.html_url,
  });
  expect(of('action_run_recover', 'success')).toMatchObject({
    level: 'success',
    key: 'github:a/b:ci.yml:main',
  });
});

it('a push of Gitea has its link and its pusher', () => {
  const push = {
    ref: 'refs/heads/main',
    compare_url: 'https://git.example.org/a/b/compare/1...2',
    commits: [{ message: 'm' }],
    repository: { full_name: 'a/b' },
    pusher: { login: 'kim', full_name: 'Kim K' },
  };
  expect(read(github, push, { headers: { 'X-GitHub-Event': 'push' } })).toMatchObject([
    { message: 'by Kim K\nm', url: push.compare_url },
  ]);
});

it('has its repository as a label, also in a run of Forgejo', () => {
  const labelsFor = (event: string, body: object) =>
    read(github, body, { headers: { 'X-GitHub-Event': event } })[0]?.labels;
  const repository = { full_name: 'a/b' };
  const wanted = labelsText({ repository: 'a/b' });
  expect(labelsFor('push', { ref: 'refs/heads/main', commits: [{ message: 'Fix' }], repository })).toBe(
    wanted,
  );
  expect(labelsFor('action_run_failure', { run: { status: 'failure', repository } })).toBe(wanted);
  for (const odd of [{}, { run: 1 }, { run: { repository: 1 }, repository: 'x' }])
    expect(labelsFor('push', { ref: 'refs/heads/main', commits: [{ message: 'Fix' }], ...odd })).toBeNull();
});

it('of GitLab has its project as the label of its repository', () => {
  const body = { object_kind: 'release', tag: 'v1', project: { path_with_namespace: 'a/b' } };
  expect(read(gitlab, body)[0]?.labels).toBe(labelsText({ repository: 'a/b' }));
});
