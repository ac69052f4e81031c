import { isPlainObject } from '#contract/plain-object.ts';
import { badRequest } from '#core/errors.ts';
import type { Format, Item } from '../format.ts';
import {
  type JsonObject,
  joinTexts,
  objectAt,
  objectsAt,
  optionalObject,
  requiredText,
  textOf,
} from '../payload.ts';

/** A run that is in progress, skipped or neutral has no level and is not stored. */
const levelOfConclusion: ReadonlyMap<string, string> = new Map([
  ['success', 'success'],
  ['failure', 'error'],
  ['error', 'error'],
  ['timed_out', 'error'],
  ['startup_failure', 'error'],
  ['action_required', 'warning'],
  ['cancelled', 'warning'],
]);

/**
 * Webhooks of GitHub: pushes, workflow runs, deployments, issues, pull requests, releases and alerts of its scanners.
 * Other events are not stored. https://docs.github.com/en/webhooks/webhook-events-and-payloads
 */
export const github: Format = {
  read({ body, header }) {
    const event = header('X-GitHub-Event')?.trim();
    if (!event) throw badRequest('the header X-GitHub-Event is required');
    const payload = objectAt(body);
    const item = itemOf(event, payload);
    // The signature does not cover the delivery's id: a signed body with another id is a repeat.
    const identity = textOf(header('X-Hub-Signature-256'), header('X-GitHub-Delivery'));
    return item ? [{ ...item, identity, labels: [['repository', repositoryOf(payload)]] }] : [];
  },
};

/** Forgejo names the repository of a run in the run. */
const repositoryOf = (payload: JsonObject) => repositoryIn(payload.run) ?? repositoryIn(payload);

const repositoryIn = (value: unknown) =>
  isPlainObject(value) && isPlainObject(value.repository) ? textOf(value.repository.full_name) : undefined;

function itemOf(event: string, payload: JsonObject): Item | undefined {
  const name = repositoryOf(payload) ?? 'GitHub';
  switch (event) {
    case 'push':
      return pushOf(name, payload);
    case 'workflow_run':
      return runOf(name, payload);
    case 'action_run_failure':
    case 'action_run_recover':
    case 'action_run_success':
      return runOfForgejo(name, payload);
    case 'deployment_status':
      return deploymentOf(name, payload);
    case 'issues':
    case 'pull_request':
      return threadOf(name, event, payload);
    case 'release':
      return releaseOf(name, payload);
    case 'dependabot_alert':
    case 'code_scanning_alert':
    case 'secret_scanning_alert':
      return alertOf(name, event, payload);
    default:
      return undefined;
  }
}

/** A push that creates or deletes a branch has no commits of its own and is not stored. */
function pushOf(name: string, payload: JsonObject): Item | undefined {
  const commits = objectsAt(payload.commits ?? [], '/commits');
  if (commits.length === 0 || payload.deleted === true) return undefined;
  const branch = (textOf(payload.ref) ?? '').replace(/^refs\/(?:heads|tags)\//, '');
  // Gitea has names of its own.
  const { name: pusherName, full_name, login } = optionalObject(payload.pusher, '/pusher');
  const pusher = textOf(pusherName, full_name, login);
  const summaries = commits.map(({ message }) => textOf(message)?.split('\n', 1)[0]);
  return {
    title: `${name}: ${commits.length} ${commits.length === 1 ? 'commit' : 'commits'} pushed to ${branch}`,
    message: joinTexts([pusher && `by ${pusher}`, ...summaries], '\n'),
    severity: 'push',
    level: 'info',
    key: `github:${name}:push:${branch}`,
    url: textOf(payload.compare, payload.compare_url),
  };
}

/** A run of one workflow and branch replaces the one before. Runs of Gitea have neither the name nor the id of their workflow. */
function runOf(name: string, payload: JsonObject): Item | undefined {
  const run = objectAt(payload.workflow_run, '/workflow_run');
  const of = optionalObject(payload.workflow, '/workflow');
  const severity = textOf(run.conclusion) ?? '';
  const level = levelOfConclusion.get(severity);
  if (level === undefined) return undefined;
  const workflow = textOf(run.name, of.name, run.path) ?? 'workflow';
  const branch = textOf(run.head_branch) ?? '';
  return {
    title: `${name}: ${workflow} ${severity} on ${branch}`,
    message: textOf(run.display_title),
    severity,
    level,
    key: `github:${name}:${textOf(run.workflow_id, of.id) ?? workflow}:${branch}`,
    url: textOf(run.html_url),
  };
}

/** Forgejo has events and names of its own for what GitHub calls `workflow_run`. */
function runOfForgejo(name: string, payload: JsonObject): Item | undefined {
  const { status, workflow_id, prettyref, title, html_url } = objectAt(payload.run, '/run');
  return runOf(name, {
    workflow_run: {
      conclusion: status,
      name: workflow_id,
      head_branch: prettyref,
      display_title: title,
      html_url,
    },
  });
}

function deploymentOf(name: string, payload: JsonObject): Item | undefined {
  const status = objectAt(payload.deployment_status, '/deployment_status');
  const severity = textOf(status.state) ?? '';
  const level = levelOfConclusion.get(severity);
  if (level === undefined) return undefined;
  const environment = textOf(status.environment) ?? '';
  return {
    title: `${name}: deployment ${severity} on ${environment}`,
    message: textOf(status.description),
    severity,
    level,
    key: `github:${name}:deployment:${environment}`,
    url: textOf(status.environment_url, status.log_url, status.target_url),
  };
}

function threadOf(name: string, event: 'issues' | 'pull_request', payload: JsonObject): Item | undefined {
  const action = textOf(payload.action) ?? '';
  if (!['opened', 'closed', 'reopened'].includes(action)) return undefined;
  const field = event === 'issues' ? 'issue' : event;
  const thread = objectAt(payload[field], `/${field}`);
  const number = requiredText(thread.number, `/${field}/number`);
  const what = event === 'issues' ? 'issue' : 'pull request';
  return {
    title: `${name}: ${what} #${number} ${thread.merged === true ? 'merged' : action}`,
    message: textOf(thread.title),
    severity: `${event}.${action}`,
    level: 'info',
    key: `github:${name}:${what}:${number}`,
    url: textOf(thread.html_url),
  };
}

function releaseOf(name: string, payload: JsonObject): Item | undefined {
  if (textOf(payload.action) !== 'published') return undefined;
  const release = objectAt(payload.release, '/release');
  return {
    title: `${name}: release ${textOf(release.tag_name) ?? ''}`,
    message: joinTexts([textOf(release.name), textOf(release.body)]),
    severity: 'release',
    level: 'info',
    url: textOf(release.html_url),
  };
}

/** An alert that is fixed or dismissed replaces itself. */
function alertOf(name: string, event: string, payload: JsonObject): Item | undefined {
  const action = textOf(payload.action) ?? '';
  const isOver = ['fixed', 'dismissed', 'auto_dismissed', 'resolved', 'closed_by_user', 'revoked'].includes(
    action,
  );
  if (
    !isOver &&
    !['created', 'reopened', 'reintroduced', 'reopened_by_user', 'appeared_in_branch'].includes(action)
  )
    return undefined;
  const alert = objectAt(payload.alert, '/alert');
  const advisory = optionalObject(alert.security_advisory, '/alert/security_advisory');
  const rule = optionalObject(alert.rule, '/alert/rule');
  const what = event.replaceAll('_', ' ');
  const number = textOf(alert.number);
  const severity = isOver
    ? 'resolved'
    : (textOf(advisory.severity, rule.security_severity_level, rule.severity) ?? 'alert');
  return {
    title: `${isOver ? 'Resolved: ' : ''}${name}: ${what}`,
    message: textOf(advisory.summary, rule.description, alert.secret_type_display_name, alert.secret_type),
    severity,
    level: isOver ? 'success' : severity === 'critical' ? 'error' : 'warning',
    key: number && `github:${name}:${event}:${number}`,
    isFiring: !isOver && number !== undefined,
    url: textOf(alert.html_url),
  };
}
