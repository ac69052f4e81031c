import type { Format } from '../format.ts';
import { choiceAt, joinTexts, labelsOfWords, objectAt, textOf } from '../payload.ts';

/** A check that is paused, or new, is not watched: its alert ends. */
const levels = { up: 'success', down: 'error', paused: 'info', new: 'info' } as const;

/** The webhook integration of Healthchecks with `$JSON` as its body: https://healthchecks.io/docs/configuring_notifications/ */
export const healthchecks: Format = {
  read({ body }) {
    const check = objectAt(body);
    const sent = choiceAt(check.status, '/status', ['up', 'down', 'grace', 'started', 'paused', 'new']);
    const status = sent === 'grace' || sent === 'started' ? 'up' : sent;
    const name = textOf(check.name, check.slug) ?? 'Check';
    // Not the ping URL, because everybody who has it can report in the place of the job. Slugs and names may be used twice.
    const updateId = /\/checks\/([^/?#]+)$/.exec(textOf(check.update_url) ?? '')?.[1];
    const id = textOf(check.uuid, check.unique_key, updateId, check.slug) ?? name;
    const lastPing = textOf(check.last_ping);
    const sentence =
      lastPing === undefined
        ? `${name} has not reported yet.`
        : status === 'up'
          ? `${name} reported at ${lastPing}.`
          : `${name} last reported at ${lastPing}.`;
    return [
      {
        title: `${name} is ${status}`,
        message: joinTexts([sentence, textOf(check.desc)]),
        severity: status,
        level: levels[status],
        key: `healthchecks:${id}`,
        // With spaces between them.
        labels: labelsOfWords((textOf(check.tags) ?? '').split(/\s+/)),
        isFiring: status === 'down',
        identity: lastPing && `${id} ${status} ${lastPing}`,
      },
    ];
  },
};
