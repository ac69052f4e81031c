import { SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '#client/api-error.ts';
import type { RuleWords } from '#web/dashboard/pieces/rules/rule-sentence.ts';
import type { DraftRules } from '../editor/draft-set.ts';
import styles from './ask.module.css';
import { ExplainOutcome } from './explain-outcome.tsx';
import { RecordedPicker } from './recorded-picker.tsx';
import { isBlank, nothingTyped, tracedOf, typedFrom } from './subject.ts';
import { TypedForm } from './typed-form.tsx';
import type { Explain } from './use-explain.ts';

/** Where would this notification go, and why? */
export function ExplainPanel({
  explain,
  rules,
  words,
  own,
  isWaiting = false,
}: {
  explain: Explain;
  /** As they were asked about. */
  rules: DraftRules;
  words: RuleWords;
  /** The id of the rule that is being written. */
  own?: string | undefined;
  /** The rule that is being written cannot be asked about as it is. */
  isWaiting?: boolean;
}) {
  const { t } = useTranslation('rules');
  const { subject, setSubject, recorded, outcome, error } = explain;
  const [way, setWay] = useState(subject.kind);
  const hasNothing =
    subject.kind !== way || (subject.kind === 'typed' && isBlank(subject.typed)) || outcome === undefined;
  const complaint = error?.message;
  const fault = faultInForm(error);
  return (
    <div className={styles.panel}>
      <SegmentedControl
        size="xs"
        fullWidth
        aria-label={t('explain.way')}
        value={way}
        onChange={(next) => {
          setWay(next as typeof way);
          if (next === 'typed' && subject.kind === 'recorded')
            setSubject({ kind: 'typed', typed: recorded ? typedFrom(recorded) : nothingTyped });
        }}
        data={[
          { value: 'typed', label: t('explain.typed') },
          { value: 'recorded', label: t('explain.recorded') },
        ]}
      />
      {way === 'typed' ? (
        <TypedForm
          typed={subject.kind === 'typed' ? subject.typed : nothingTyped}
          onChange={(typed) => setSubject({ kind: 'typed', typed })}
          fault={fault}
        />
      ) : (
        <RecordedPicker
          chosen={subject.kind === 'recorded' ? recorded : undefined}
          onChoose={(id) => setSubject({ kind: 'recorded', id })}
        />
      )}
      <section aria-label={t('explain.answer')} aria-live="polite" className={styles.answer}>
        {isWaiting ? (
          <p className={styles.hint}>{t('explain.notWhole')}</p>
        ) : (
          <>
            {hasNothing && !complaint && <p className={styles.hint}>{t('explain.hint')}</p>}
            {complaint && !fault && <p className={styles.complaint}>{complaint}</p>}
            {!hasNothing && !complaint && (
              <ExplainOutcome
                outcome={outcome}
                rules={rules}
                words={words}
                own={own}
                notification={tracedOf(subject, recorded)}
              />
            )}
          </>
        )}
      </section>
    </div>
  );
}

/** The field of the typed notification that the server refuses. */
function faultInForm(error: Error | null): { field: string; text: string } | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const field = /^\/notification\/(\w+)$/.exec(error.place.pointer ?? '')?.[1];
  return field === undefined ? undefined : { field, text: error.messageAfter(`notification.${field}`) };
}
