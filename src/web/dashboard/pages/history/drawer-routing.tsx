import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { NotificationDetail, RoutingOutcome, RuleTrace } from '#contract/routing/routing.ts';
import { explainQuery, rulesQuery } from '#web/dashboard/api/rules.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { useFormats } from '#web/dashboard/formats/use-formats.tsx';
import { type TracedNotification, traceSentence } from '#web/dashboard/rule-text/rule-sentence.ts';
import { useRuleWords } from '#web/dashboard/rule-text/rule-text.tsx';
import styles from './notification-drawer.module.css';

/** How many rules are shown at first; matching ones are always shown. */
const shownAtFirst = 8;

/** How the rules decided when the notification arrived, and what the current rules would change. */
export function RoutingReason({
  detail,
  hasEscalation,
}: {
  detail: NotificationDetail;
  hasEscalation: boolean;
}) {
  const { t } = useTranslation('history');
  const onScreens = detail.state === 'live' && detail.panelCount > 0;
  const wasOn = detail.state === 'expired' || detail.state === 'cleared';
  return (
    <section className={styles.section}>
      <h3>{t(onScreens ? 'whyOn' : wasOn ? 'whyWasOn' : 'whyNot')}</h3>
      <Trace detail={detail} />
      {hasEscalation && <Escalation detail={detail} />}
      <Today detail={detail} />
    </section>
  );
}

/** What each rule did. For a rule that was changed since, the server's reason: its present form does not explain it. */
function Trace({ detail }: { detail: NotificationDetail }) {
  const { t } = useTranslation('history');
  const { trace } = detail;
  const words = useRuleWords();
  const { data: rules, isPending } = useQuery(rulesQuery(useTenant()));
  const seen: TracedNotification = { ...detail, level: detail.sent.level, token: detail.token.name };
  const ruleOf = (part: RuleTrace | undefined) =>
    rules?.find(({ id, updatedAt }) => id === part?.id && updatedAt <= detail.receivedAt);
  const lastMatch = (trace ?? []).findLastIndex(({ outcome }) => outcome === 'matched');
  // If the last rule that matched lets others follow, a limit ended the evaluation: the server's reason names it.
  const endedBy = ruleOf(trace?.[lastMatch])?.continue ? undefined : lastMatch + 1;
  const sentence = (part: RuleTrace) =>
    traceSentence(part, words, {
      rule: ruleOf(part),
      endedBy,
      notification: seen,
      now: Date.parse(detail.receivedAt),
    });
  const [all, setAll] = useState(false);
  if (trace === null) return <p className={styles.quiet}>{t('rulesDeleted')}</p>;
  if (trace.length === 0) return <p className={styles.quiet}>{t('noRules')}</p>;
  // Without the rules, only the server's English reasons could be shown.
  if (isPending) return null;
  const isUnmatched = detail.target.all && trace.every(({ outcome }) => outcome !== 'matched');
  const visible = trace
    .map((rule, i) => ({ rule, number: i + 1 }))
    .filter(({ rule, number }) => all || number <= shownAtFirst || rule.outcome === 'matched');
  return (
    <>
      {isUnmatched && <p>{t('noneMatched')}</p>}
      <ol className={styles.steps}>
        {visible.map(({ rule, number }) => (
          <li key={rule.id} className={rule.outcome === 'matched' ? '' : styles.quiet}>
            <span className={rule.outcome === 'matched' ? styles.good : styles.quiet}>{number}</span>
            <span>
              <RuleName rule={rule} exists={rules?.some(({ id }) => id === rule.id) === true} />:{' '}
              {sentence(rule)}
            </span>
          </li>
        ))}
      </ol>
      {visible.length < trace.length && (
        <button type="button" className={styles.link} onClick={() => setAll(true)}>
          {t('allRules', { count: trace.length - visible.length })}
        </button>
      )}
    </>
  );
}

/** Leads to the rule, if there still is one. */
function RuleName({ rule: { id, name, outcome }, exists }: { rule: RuleTrace; exists: boolean }) {
  const { name: tenant } = useTenant();
  const shown = exists ? (
    <Link to="/t/$tenant/rules" params={{ tenant }} search={{ id }} className={styles.rule}>
      <bdi>{name}</bdi>
    </Link>
  ) : (
    <bdi>{name}</bdi>
  );
  return outcome === 'matched' ? <strong>{shown}</strong> : shown;
}

/** What is sent next if nobody acknowledges it, and what it was escalated from and to. */
export function Escalation({ detail }: { detail: Pick<NotificationDetail, 'escalation' | 'cleared'> }) {
  const { t } = useTranslation('history');
  const { name: tenant } = useTenant();
  const formats = useFormats();
  const { next, from, to } = detail.escalation;
  const link = (id: string, text: string) => (
    <p>
      <Link to="/t/$tenant/history" params={{ tenant }} search={{ id }} className={styles.rule}>
        {text}
      </Link>
    </p>
  );
  return (
    <>
      {next && (
        <p>
          {t(next.unless === 'shown' ? 'escalatesUnlessShown' : 'escalates', {
            time: formats.dateTime(next.at),
            step: next.step,
            steps: next.steps,
            rule: next.rule.name,
          })}
        </p>
      )}
      {from !== null && link(from, t('escalatedFrom'))}
      {/* The answer above has the link to what replaced it. */}
      {to !== null && to !== detail.cleared?.by && link(to, t('escalatedTo'))}
    </>
  );
}

/** Shown only if today's rules would decide otherwise. */
function Today({ detail }: { detail: NotificationDetail }) {
  const { t } = useTranslation('history');
  const { data: today } = useQuery(explainQuery(useTenant(), detail.id));
  if (!today) return null;
  const sentences = differences(detail, today).map(({ key, values }) => t(key, values));
  if (sentences.length === 0) return null;
  return (
    <div className={styles.today}>
      <strong>{t('today')}</strong> {sentences.join(' ')}
    </div>
  );
}

type Difference = {
  readonly key: 'today.muted' | 'today.notMuted' | 'today.level' | 'today.panels' | 'today.nobody';
  readonly values: { rule: string; level: string; count: number; panels: string };
};

function differences(then: NotificationDetail, now: RoutingOutcome): Difference[] {
  const rule = now.rules.findLast(({ outcome }) => outcome === 'matched')?.name ?? '';
  const panels = now.panels.map(({ name }) => name).join(', ');
  const values = { rule, level: now.level, count: now.panelCount, panels };
  if (now.muted && then.state !== 'muted') return [{ key: 'today.muted', values }];
  const found: Difference[] = [];
  if (!now.muted && then.state === 'muted') found.push({ key: 'today.notMuted', values });
  if (now.level !== then.level) found.push({ key: 'today.level', values });
  if (found.length > 0 && then.state === 'muted') return found;
  if (sameTarget(then.target, now.target)) return found;
  return [...found, { key: now.panelCount === 0 ? 'today.nobody' : 'today.panels', values }];
}

const sameTarget = (a: NotificationDetail['target'], b: NotificationDetail['target']) =>
  a.all === b.all && sameSet(a.ids, b.ids) && sameSet(a.tags, b.tags);
const sameSet = (a: readonly string[], b: readonly string[]) =>
  a.length === b.length && a.every((each) => b.includes(each));
