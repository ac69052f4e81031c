import { type Format, type Item, wordOf } from '../format.ts';
import { type JsonObject, objectAt, optionalObject, requiredText, textOf } from '../payload.ts';

/** A pipeline, job or deployment that is in progress has no level and is not stored. */
const levelOfStatus: ReadonlyMap<string, string> = new Map([
  ['success', 'success'],
  ['failed', 'error'],
  ['canceled', 'warning'],
]);

/**
 * Webhooks of GitLab for pipelines, jobs, deployments, issues, merge requests and releases. Other events are not stored.
 * https://docs.gitlab.com/user/project/integrations/webhook_events/
 */
export const gitlab: Format = {
  read({ body, header }) {
    const event = objectAt(body);
    // A system hook, as for a new project, has no kind unless it has a webhook's payload.
    if (event.object_kind === undefined && textOf(event.event_name) !== undefined) return [];
    const kind = requiredText(event.object_kind, '/object_kind');
    const item = itemOf(kind, event);
    const delivery = textOf(header('Idempotency-Key'), header('X-Gitlab-Event-UUID'));
    const identity = delivery && `${delivery} ${kind}`;
    return item ? [{ ...item, identity, labels: [['repository', projectOf(event)]] }] : [];
  },
};

function projectOf(event: JsonObject): string | undefined {
  const project = optionalObject(event.project, '/project');
  return textOf(project.path_with_namespace, event.project_name, project.name);
}

function itemOf(kind: string, event: JsonObject): Item | undefined {
  const name = projectOf(event) ?? 'GitLab';
  const attributes = optionalObject(event.object_attributes, '/object_attributes');
  if (kind === 'pipeline' || kind === 'build' || kind === 'deployment') return runOf(kind, name, event);
  if (kind === 'issue' || kind === 'merge_request') {
    const action = textOf(attributes.action) ?? 'update';
    if (!['open', 'close', 'reopen', 'merge'].includes(action)) return undefined;
    const what = kind === 'issue' ? 'issue' : 'merge request';
    const number = textOf(attributes.iid);
    return {
      title: `${name}: ${what} ${action}`,
      message: textOf(attributes.title),
      severity: `${kind}.${action}`,
      level: 'info',
      key: number && `gitlab:${name}:${kind}:${number}`,
      url: textOf(attributes.url),
    };
  }
  if (kind !== 'release') return undefined;
  return {
    title: `${name}: release ${textOf(event.tag) ?? ''}`,
    message: textOf(event.name, event.description),
    severity: 'release',
    level: 'info',
    url: textOf(event.url),
  };
}

/** A pipeline, job or deployment of one branch replaces the one before. */
function runOf(kind: string, name: string, event: JsonObject): Item | undefined {
  const attributes = optionalObject(event.object_attributes, '/object_attributes');
  const severity = wordOf(textOf(attributes.status, event.build_status, event.status) ?? '');
  const level = levelOfStatus.get(severity);
  if (level === undefined) return undefined;
  // A deployment has a ref too, but it replaces the one before in its environment.
  const environment = kind === 'deployment' ? event.environment : undefined;
  const ref = textOf(environment, attributes.ref, event.ref) ?? '';
  const what = kind === 'build' ? `job ${textOf(event.build_name) ?? ''}` : kind;
  const project = optionalObject(event.project, '/project');
  const commit = optionalObject(event.commit, '/commit');
  return {
    title: `${name}: ${what} ${severity} on ${ref}`,
    message: textOf(commit.title, commit.message, event.commit_title),
    severity,
    level,
    key: `gitlab:${name}:${what}:${ref}`,
    url:
      textOf(attributes.url, event.deployable_url) ??
      pipelineUrl(textOf(project.web_url), textOf(attributes.id)),
  };
}

function pipelineUrl(project: string | undefined, id: string | undefined): string | undefined {
  return project && id && `${project}/-/pipelines/${id}`;
}
