import downIcon from 'virtual:icon/chevron-down';
import upIcon from 'virtual:icon/chevron-up';
import plusIcon from 'virtual:icon/plus';
import removeIcon from 'virtual:icon/x';
import { ActionIcon, Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { type EscalationStep, maxEscalationSteps } from '#contract/rule.ts';
import { DurationField } from '#web/dashboard/components/duration-field.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import styles from './editor.module.css';
import { EditorLevelSelect, EditorSelect } from './editor-row.tsx';
import { type FieldProblem, problemOfStep } from './rule-problem.ts';
import { TargetFields } from './target-fields.tsx';

export const initialStep: Readonly<EscalationStep> = { afterMs: 300_000, setLevel: 'critical' };

/** "escalate after 5 min, unless acknowledged, as critical, on the same panels": a line for each step. */
export function EscalationFields({
  steps,
  onChange,
  problem,
}: {
  steps: readonly EscalationStep[];
  onChange: (steps: EscalationStep[]) => void;
  problem: FieldProblem | undefined;
}) {
  const { t } = useTranslation('rules');
  const swap = (at: number) =>
    onChange(steps.map((step, i) => (i === at ? steps[at + 1] : i === at + 1 ? steps[at] : step) ?? step));
  return (
    <div className={styles.steps}>
      <ol>
        {steps.map((step, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a step is known by its place alone
          <li key={i} className={styles.step} aria-label={t('escalate.step', { number: i + 1 })}>
            <StepFields
              step={step}
              isFirst={i === 0}
              problem={problemOfStep(problem, step, i)}
              onChange={(next) => onChange(steps.map((each, at) => (at === i ? next : each)))}
            />
            {steps.length > 1 && (
              <span className={styles.stepButtons}>
                <StepButton
                  label={t('escalate.up')}
                  icon={upIcon}
                  isDisabled={i === 0}
                  onPress={() => swap(i - 1)}
                />
                <StepButton
                  label={t('escalate.down')}
                  icon={downIcon}
                  isDisabled={i === steps.length - 1}
                  onPress={() => swap(i)}
                />
                <StepButton
                  label={t('escalate.remove')}
                  icon={removeIcon}
                  onPress={() => onChange(steps.filter((_, at) => at !== i))}
                />
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
  step,
  isFirst,
  problem,
  onChange,
}: {
  step: EscalationStep;
  isFirst: boolean;
  problem: FieldProblem | undefined;
  onChange: (step: EscalationStep) => void;
}) {
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

function StepButton({
  label,
  icon,
  isDisabled = false,
  onPress,
}: {
  label: string;
  icon: readonly string[];
  isDisabled?: boolean;
  onPress: () => void;
}) {
  return (
    <ActionIcon size="sm" aria-label={label} disabled={isDisabled} onClick={onPress}>
      <Icon paths={icon} size={14} />
    </ActionIcon>
  );
}
