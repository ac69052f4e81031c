import downIcon from 'virtual:icon/chevron-down';
import upIcon from 'virtual:icon/chevron-up';
import plusIcon from 'virtual:icon/plus';
import removeIcon from 'virtual:icon/x';
import { ActionIcon, Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { type EscalationStep, maxEscalationSteps } from '#contract/routing/rule.ts';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { DurationField } from '#web/dashboard/fields/duration-field.tsx';
import type { Field } from '#web/dashboard/fields/field.ts';
import styles from './editor.module.css';
import { EditorLevelSelect, EditorSelect } from './editor-row.tsx';
import { type FieldProblem, problemOfStep } from './rule-problem.ts';
import { TargetFields } from './target-fields.tsx';

const stepActions = [
  ['up', upIcon, -1],
  ['down', downIcon, 1],
  ['remove', removeIcon, undefined],
] as const;

export const initialStep: Readonly<EscalationStep> = { afterMs: 300_000, setLevel: 'critical' };

/** "escalate after 5 min, unless acknowledged, as critical, on the same panels": a line for each step. */
export function EscalationFields({
  value: steps,
  onChange,
  problem,
}: Field<EscalationStep[]> & { problem: FieldProblem | undefined }) {
  const { t } = useTranslation('rules');
  /** Moves a step to another place, or removes it. */
  const move = (step: EscalationStep, at: number, to?: number) => {
    const others = steps.toSpliced(at, 1);
    onChange(to === undefined ? others : others.toSpliced(to, 0, step));
  };
  return (
    <div className={styles.steps}>
      <ol>
        {steps.map((step, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a step is known by its place alone
          <li key={i} className={styles.step} aria-label={t('escalate.step', { number: i + 1 })}>
            <StepFields
              value={step}
              isFirst={i === 0}
              problem={problemOfStep(problem, step, i)}
              onChange={(next) => onChange(steps.with(i, next))}
            />
            {steps.length > 1 && (
              <span className={styles.stepButtons}>
                {stepActions.map(([action, icon, by]) => (
                  <ActionIcon
                    key={action}
                    size="sm"
                    aria-label={t(`escalate.${action}`)}
                    disabled={by !== undefined && steps[i + by] === undefined}
                    onClick={() => move(step, i, by && i + by)}
                  >
                    <Icon paths={icon} size={14} />
                  </ActionIcon>
                ))}
              </span>
            )}
          </li>
        ))}
      </ol>
      {steps.length < maxEscalationSteps && (
        <Button
          size="xs"
          variant="subtle"
          className={styles.add ?? ''}
          leftSection={<Icon paths={plusIcon} size={14} />}
          onClick={() => onChange([...steps, { afterMs: 900_000 }])}
        >
          {t('escalate.add')}
        </Button>
      )}
    </div>
  );
}

function StepFields({
  value: step,
  isFirst,
  problem,
  onChange,
}: Field<EscalationStep> & { isFirst: boolean; problem: FieldProblem | undefined }) {
  const { t } = useTranslation('rules');
  const { afterMs, unless = 'acknowledged', setLevel, panels } = step;
  const { setLevel: _level, ...withoutLevel } = step;
  const { panels: _panels, ...withoutPanels } = step;
  return (
    <>
      <span className={styles.field}>{t(isFirst ? 'escalate.after' : 'escalate.again')}</span>
      <DurationField
        size="xs"
        label={t('escalate.time')}
        ms={afterMs}
        onChange={(ms) => ms > 0 && onChange({ ...step, afterMs: ms })}
      />
      <span className={styles.words}>{t('escalate.unless')}</span>
      <EditorSelect
        label={t('escalate.unless')}
        value={unless}
        onChange={(next) => onChange({ ...step, unless: next })}
        options={[
          ['acknowledged', t('escalate.acknowledged')],
          ['shown', t('escalate.shown')],
        ]}
      />
      <span className={styles.words}>{t('escalate.as')}</span>
      <EditorLevelSelect
        label={t('escalate.level')}
        value={setLevel ?? ''}
        emptyLabel={t('escalate.sameLevel')}
        onChange={(level) => onChange(level === '' ? withoutLevel : { ...step, setLevel: level })}
      />
      <span className={styles.words}>{t('escalate.on')}</span>
      <TargetFields
        target={panels}
        kinds={['same', 'all', 'tags', 'ids']}
        onChange={(target) => onChange(target === undefined ? withoutPanels : { ...step, panels: target })}
        problem={problem}
      />
    </>
  );
}
