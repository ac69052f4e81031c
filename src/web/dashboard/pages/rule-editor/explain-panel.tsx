import muteIcon from 'virtual:icon/bell-off';
import matchIcon from 'virtual:icon/check';
import panelsIcon from 'virtual:icon/device-tv';
import { Button, SegmentedControl, TagsInput, Textarea, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '#client/call.ts';
import { patternFieldNames } from '#contract/history/fields.ts';
import type { HistoryNotification } from '#contract/history/notification.ts';
import type { RoutingOutcome, RuleTrace } from '#contract/routing/routing.ts';
import { recordedQuery } from '#web/dashboard/api/rules.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { LevelMark } from '#web/dashboard/components/level-mark.tsx';
import { LevelSelect } from '#web/dashboard/fields/choice-fields.tsx';
import type { Field } from '#web/dashboard/fields/form-values.ts';
import { Ago, useFormats } from '#web/dashboard/formats/use-formats.tsx';
import {
  type RuleWords,
  type TracedNotification,
  traceSentence,
} from '#web/dashboard/rule-text/rule-sentence.ts';
import type { DraftRules } from './draft.ts';
import { useLabelPairs } from './editor-row.tsx';
import styles from './try-panels.module.css';
import {
  type Explain,
  emptyFields,
  fieldsOf,
  isBlank,
  isReadable,
  type Subject,
  type TypedFields,
  tracedOf,
} from './use-explain.ts';

/** Where would this notification go, and why? */
export function ExplainPanel({
  explain,
  isWaiting = false,
  ...props
}: {
  explain: Explain;
  /** The rules of the question. */
  rules: DraftRules;
  words: RuleWords;
  /** The id of the rule that is being written. */
  own?: string | undefined;
  /** The rule that is being written is not complete, or not valid. */
  isWaiting?: boolean;
}) {
  const { t } = useTranslation('rules');
  const { subject, setSubject, recorded, outcome, error } = explain;
  const [kind, setKind] = useState(subject.kind);
  const isEmpty = subject.kind !== kind || (subject.kind === 'typed' && isBlank(subject.fields)) || !outcome;
  const problem = isReadable(subject)
    ? fieldProblemOf(error)
    : { field: 'labels', text: t('wrong.labelPairs') };
  const isWrong = error !== null || problem !== undefined;
  const choose = (next: Subject['kind']) => {
    setKind(next);
    if (next === 'typed' && subject.kind === 'recorded')
      setSubject({ kind: 'typed', fields: recorded ? fieldsOf(recorded) : emptyFields });
  };
  return (
    <div className={styles.panel}>
      <SegmentedControl
        size="xs"
        fullWidth
        aria-label={t('field.notification')}
        value={kind}
        onChange={choose}
        data={(['typed', 'recorded'] as const).map((value) => ({ value, label: t(`explain.${value}`) }))}
      />
      {kind === 'typed' ? (
        <TypedForm
          value={subject.kind === 'typed' ? subject.fields : emptyFields}
          onChange={(fields) => setSubject({ kind: 'typed', fields })}
          problem={problem}
        />
      ) : (
        <RecordedPicker
          chosen={subject.kind === 'recorded' ? recorded : undefined}
          onChoose={(id) => setSubject({ kind: 'recorded', id })}
        />
      )}
      <section aria-label={t('explain.answer')} aria-live="polite" className={styles.answer}>
        {isWaiting && <p className={styles.hint}>{t('explain.notWhole')}</p>}
        {!isWaiting && !isWrong && isEmpty && <p className={styles.hint}>{t('explain.hint')}</p>}
        {!isWaiting && error && !problem && <p className={styles.error}>{error.message}</p>}
        {!isWaiting && !isWrong && !isEmpty && (
          <ExplainOutcome {...props} outcome={outcome} notification={tracedOf(subject, recorded)} />
        )}
      </section>
    </div>
  );
}

/** The error of a field of the typed notification. */
function fieldProblemOf(error: Error | null): { field: string; text: string } | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const field = /^\/notification\/(\w+)/.exec(error.place.pointer ?? '')?.[1];
  return field === undefined ? undefined : { field, text: error.messageAfter(`notification.${field}`) };
}

/** So many rules are shown at first; of more, only those that matched. */
const shownMost = 12;

/** The panels it reaches, how it looks there, and what each rule had to do with it. */
function ExplainOutcome({
  outcome,
  rules,
  words,
  own,
  notification,
}: {
  outcome: RoutingOutcome;
  rules: DraftRules;
  words: RuleWords;
  own?: string | undefined;
  notification: TracedNotification;
}) {
  const { t } = useTranslation('rules');
  const [all, setAll] = useState(false);
  const numbers = new Map(rules.map(({ id }, index) => [id, index + 1]));
  const endedBy = outcome.rules.findLast(
    ({ id, outcome: did }) => did === 'matched' && !rules[(numbers.get(id) ?? 0) - 1]?.continue,
  );
  const isShort = all || outcome.rules.length <= shownMost;
  const shown = isShort
    ? outcome.rules
    : outcome.rules.filter(({ id, outcome: did }) => did === 'matched' || id === own);
  const left = outcome.rules.length - shown.length + outcome.rulesOmitted;
  return (
    <>
      <Headline outcome={outcome} />
      {outcome.rules.length === 0 && <p className={styles.hint}>{t('explain.noRules')}</p>}
      <ol className={styles.walk}>
        {shown.map((trace) => {
          const number = numbers.get(trace.id);
          const isOwn = trace.id === own;
          const sentence = traceSentence(trace, words, {
            rule: number === undefined ? undefined : rules[number - 1],
            endedBy: endedBy && numbers.get(endedBy.id),
            notification,
          });
          return (
            <li
              key={trace.id}
              className={styles.step}
              data-outcome={trace.outcome}
              data-own={isOwn || undefined}
            >
              <span className={styles.stepNumber}>
                {isMatch(trace) && <Icon paths={matchIcon} size={14} />}
                {number}
              </span>
              <span>
                <bdi className={styles.stepName}>{trace.name}</bdi>
                {isOwn && <span className={styles.own}> {t('explain.own')}</span>}
                <bdi className={styles.stepText}>{sentence}</bdi>
              </span>
            </li>
          );
        })}
      </ol>
      {left > 0 && (
        <Button size="compact-xs" variant="subtle" onClick={() => setAll(true)} disabled={all}>
          {t('explain.others', { count: left })}
        </Button>
      )}
      {outcome.rules.length > 0 && endedBy === undefined && !outcome.rules.some(isMatch) && (
        <p className={styles.hint}>{t('explain.noneMatched')}</p>
      )}
    </>
  );
}

const isMatch = ({ outcome }: RuleTrace) => outcome === 'matched';

function Headline({ outcome }: { outcome: RoutingOutcome }) {
  const { t } = useTranslation('rules');
  const formats = useFormats();
  const { muted, throttled, suppressed, suppressedBy, panels, panelCount, level, ttl } = outcome;
  const isShown = !muted && !throttled && !suppressed && panelCount > 0;
  const more = panelCount - panels.length;
  const reason = muted ? 'muted' : throttled ? 'throttled' : suppressed ? 'suppressed' : 'nowhere';
  const title = isShown
    ? t('outcome.shown', { count: panelCount })
    : t(`outcome.${reason}`, { title: suppressedBy?.title ?? '' });
  return (
    <div className={styles.headline} data-shown={isShown}>
      <Icon paths={isShown ? panelsIcon : muteIcon} size={18} />
      <div>
        <strong dir="auto">{title}</strong>
        {suppressed && suppressedBy?.rule && (
          <p className={styles.panels}>{t('outcome.suppressedRule', { rule: suppressedBy.rule.name })}</p>
        )}
        {isShown && (
          <>
            <p className={styles.panels}>
              <bdi>{panels.map(({ name }) => name).join(', ')}</bdi>
              {more > 0 && ` ${t('outcome.more', { count: more })}`}
            </p>
            <p className={styles.looks}>
              <LevelMark name={level} />
              <span>{ttl === 0 ? t('untilCleared') : t('outcome.for', { time: formats.duration(ttl) })}</span>
            </p>
          </>
        )}
      </div>
    </div>
  );
}

const otherTexts = patternFieldNames.filter((name) => name !== 'host');
const shortFields = ['host', 'ip', ...otherTexts, 'sourceIp', 'token'] as const;

/** A notification as a sender would send it. */
function TypedForm({
  value: fields,
  onChange,
  problem,
}: Field<TypedFields> & {
  problem: { readonly field: string; readonly text: string } | undefined;
}) {
  const { t } = useTranslation('rules');
  const inputOf = (field: Exclude<keyof TypedFields, 'labels'>) => ({
    size: 'xs',
    label: t(`field.${field}`),
    value: fields[field],
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) =>
      onChange({ ...fields, [field]: currentTarget.value }),
    error: problem?.field === field && problem.text,
  });
  return (
    <div className={styles.form}>
      <TextInput {...inputOf('title')} className={styles.wide ?? ''} placeholder={t('example.typedTitle')} />
      <Textarea {...inputOf('message')} rows={2} className={styles.wide ?? ''} />
      <LevelSelect {...inputOf('level')} onChange={(level) => onChange({ ...fields, level })} />
      {shortFields.map((field) => (
        <TextInput
          key={field}
          {...inputOf(field)}
          placeholder={t(`typedExample.${field}`)}
          classNames={{ input: 'mono' }}
        />
      ))}
      <LabelsField
        value={fields.labels}
        onChange={(labels) => onChange({ ...fields, labels })}
        error={problem?.field === 'labels' && problem.text}
      />
    </div>
  );
}

/** Each label as `name=value`. */
function LabelsField({
  value: pairs,
  onChange,
  error,
}: Field<readonly string[]> & { error: string | false }) {
  const { t } = useTranslation('rules');
  const { offers, search } = useLabelPairs();
  return (
    <TagsInput
      size="xs"
      className={styles.wide ?? ''}
      label={t('field.labels')}
      placeholder={pairs.length === 0 ? t('typedExample.labels') : ''}
      classNames={{ inputField: 'mono', pill: 'mono' }}
      value={[...pairs]}
      onChange={onChange}
      data={[...offers]}
      onSearchChange={search}
      isDuplicate={(pair, others) => others.includes(pair)}
      error={error}
    />
  );
}

/** One of the notifications in history. */
function RecordedPicker({
  chosen,
  onChoose,
}: {
  chosen: HistoryNotification | undefined;
  onChoose: (id: string) => void;
}) {
  const { t } = useTranslation('rules');
  const [typed, setTyped] = useState('');
  const [q] = useDebouncedValue(typed.trim(), 300);
  const { data, error } = useQuery(recordedQuery(useTenant(), q));
  const others = data?.filter(({ id }) => id !== chosen?.id) ?? [];
  return (
    <div className={styles.picker}>
      <TextInput
        size="xs"
        label={t('explain.find')}
        placeholder="host:db-* level:>=warning"
        classNames={{ input: 'mono' }}
        value={typed}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        error={error?.message}
      />
      <ul className={styles.recorded}>
        {[...(chosen ? [chosen] : []), ...others].map(({ id, title, host, level, receivedAt }) => (
          <li key={id}>
            <button type="button" aria-pressed={id === chosen?.id} onClick={() => onChoose(id)}>
              <LevelMark name={level} iconOnly />
              <bdi className={styles.recordedTitle}>{title}</bdi>
              <bdi className="mono muted">{host}</bdi>
              <span className="muted">
                <Ago at={receivedAt} />
              </span>
            </button>
          </li>
        ))}
      </ul>
      {data?.length === 0 && <p className={styles.hint}>{t('explain.noneFound')}</p>}
    </div>
  );
}
