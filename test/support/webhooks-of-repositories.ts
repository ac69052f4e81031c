/** Payloads of GitHub and GitLab, and the notifications that they become. */
import type { WebhookCase } from './integration.ts';

const hookHeaders = {
  'X-Gitlab-Event': 'Pipeline Hook',
  'Idempotency-Key': 'f5e5f430-f57b-4e6e-9fac-d9128cd7232f',
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

export const repositoryCases: Readonly<Record<string, readonly WebhookCase[]>> = {
  github: [
    {
      what: 'a push',
      body: {
        ref: 'refs/heads/main',
        compare: 'https://github.com/octo-org/octo-repo/compare/a...b',
        pusher: { name: 'octocat' },
        commits: [{ message: 'Fix the tests\n\nAll of them' }, { message: 'Bump' }],
        repository: run.repository,
      },
      headers: githubHeaders('push'),
      items: [
        {
          title: 'octo-org/octo-repo: 2 commits pushed to main',
          message: 'by octocat\nFix the tests\nBump',
          level: 'info',
          key: 'github:octo-org/octo-repo:push:main',
          url: 'https://github.com/octo-org/octo-repo/compare/a...b',
        },
      ],
      once: true,
    },
    {
      what: 'a branch that is deleted',
      body: { ref: 'refs/heads/x', deleted: true, commits: [], repository: run.repository },
      headers: githubHeaders('push'),
      items: [],
    },
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
      what: 'an alert of Dependabot, which stays until it is fixed',
      body: {
        action: 'created',
        alert: { number: 7, security_advisory: { severity: 'high', summary: 'Prototype pollution' } },
        repository: run.repository,
      },
      headers: githubHeaders('dependabot_alert'),
      items: [{ title: 'octo-org/octo-repo: dependabot alert', level: 'warning', ttl: 0 }],
    },
    {
      what: 'the end of an alert of Dependabot',
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
      what: 'a system hook',
      body: {
        event_name: 'project_create',
        name: 'Ruby',
        path: 'ruby',
        project_id: 1,
        owner_name: 'Someone',
      },
      items: [],
    },
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
