import downIcon from 'virtual:icon/chevron-down';
import upIcon from 'virtual:icon/chevron-up';
import plusIcon from 'virtual:icon/plus';
import removeIcon from 'virtual:icon/x';
import { ActionIcon, Button, MultiSelect, Textarea } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { type GroupField, groupFields, maxGroupFields } from '#contract/history/similar.ts';
import { limits } from '#contract/limits.ts';
import {
  type EscalationStep,
  maxEscalationSteps,
  type RuleThen,
  type RuleWhen,
  throttleFields,
} from '#contract/routing/rule.ts';
import { channelsQuery, onCallQuery, useLevels } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import type { Field } from '#web/dashboard/fields/form-values.ts';
import { DurationField } from '#web/dashboard/fields/time-fields.tsx';
import { matchesCritical } from '#web/dashboard/query/mute-when.ts';
import {
  type Draft,
  type DraftThen,
  type FieldProblem,
  type FieldProblems,
  problemOfStep,
  whenOf,
} from './draft.ts';
import styles from './editor.module.css';
import { AddRow, EditorLevelSelect, EditorRow, EditorSelect } from './editor-row.tsx';
import { FieldsSelect } from './fields-select.tsx';
import { SuppressFields } from './suppress-fields.tsx';
import { TargetFields } from './target-fields.tsx';
import { EndPicker } from './time-rows.tsx';

const stepActions = [
  ['up', upIcon, -1],
  ['down', downIcon, 1],
  ['remove', removeIcon, undefined],
] as const;

const initialStep: Readonly<EscalationStep> = { afterMs: 300_000, setLevel: 'critical' };

/** "escalate after 5 min, unless acknowledged, as critical, on the same panels": a line for each step. */
function EscalationFields({
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

const initialActions: Readonly<Required<DraftThen>> = {
  panels: 'all',
  channels: [],
  onCall: '',
  mute: true,
  setLevel: 'error',
  setTtl: 30_000,
  throttle: { by: ['host', 'title'], perMs: 300_000 },
  escalate: [initialStep],
  suppress: { conditions: [], equal: ['host'] },
  instructions: '',
  group: ['title'],
  acknowledgeForMs: 4 * 3_600_000,
};
type Action = keyof DraftThen;
const actions = Object.keys(initialActions) as Action[];

interface ActionProps {
  readonly then: DraftThen;
  readonly onChange: (then: DraftThen) => void;
  /** Of the rule. */
  readonly conditions: Draft['conditions'];
  readonly activeUntil: string | null;
  readonly onEnd: (activeUntil: string | null) => void;
  readonly problems: FieldProblems;
}

/** "→ panels tagged noc, show 5 s": a row for each action. */
export function ActionRows(props: ActionProps) {
  const { t } = useTranslation('rules');
  const { then, onChange, problems } = props;
  const given = actions.filter((action) => then[action] !== undefined && then[action] !== false);
  const ofCritical = useOfCritical(whenOf(props.conditions));
  return (
    <>
      {given.map((action, index) => {
        const problem = problems.at(`then.${action}`);
        const { [action]: _, ...others } = then;
        return (
          <EditorRow
            key={action}
            lead={index === 0 ? '→' : t('lead.and')}
            problem={problem}
            {...(action === 'mute' && ofCritical)}
            removeLabel={t('removeAction', { name: t(`action.${action}`) })}
            onRemove={() => onChange(others)}
          >
            <ActionFields {...props} action={action} problem={problem} />
          </EditorRow>
        );
      })}
      <AddRow
        lead={given.length === 0 ? '→' : t('lead.and')}
        label={t('addAction')}
        problem={problems.at('then')}
        choices={actions
          .filter((action) => !given.includes(action))
          .map((action) => [action, t(`action.${action}`)] as const)}
        onAdd={(action) => onChange({ ...then, [action]: initialActions[action] })}
      />
    </>
  );
}

/** Whether a rule that mutes also mutes what is critical. */
function useOfCritical(when: RuleWhen): { readonly warnings?: readonly string[]; readonly hint?: string } {
  const { t } = useTranslation('rules');
  const levels = useLevels();
  if (matchesCritical(when, levels)) return { warnings: [t('mutesCritical')] };
  return when.not?.minLevel === undefined ? {} : { hint: t('sparesCritical') };
}

function ActionFields({
  action,
  problem,
  then,
  onChange,
  activeUntil,
  onEnd,
  problems,
}: ActionProps & { action: Action; problem: FieldProblem | undefined }) {
  const { t } = useTranslation('rules');
  switch (action) {
    case 'panels':
      return (
        <TargetFields
          target={then.panels ?? 'all'}
          kinds={['all', 'none', 'tags', 'ids']}
          onChange={(panels) => onChange({ ...then, panels: panels ?? 'all' })}
          problem={problem}
        />
      );
    case 'channels':
      return (
        <ChannelFields
          value={then.channels ?? []}
          onChange={(channels) => onChange({ ...then, channels })}
          problem={problem}
        />
      );
    case 'onCall':
      return <OnCallFields value={then.onCall ?? ''} onChange={(onCall) => onChange({ ...then, onCall })} />;
    case 'mute':
      return (
        <>
          <span className={styles.field}>{t('muteIt')}</span>
          <span className={styles.words}>{t('until')}</span>
          <EndPicker value={activeUntil} onChange={onEnd} />
        </>
      );
    case 'setLevel':
      return (
        <>
          <span className={styles.field}>{t('makeIt')}</span>
          <EditorLevelSelect
            label={t('action.setLevel')}
            value={then.setLevel ?? ''}
            onChange={(setLevel) => onChange({ ...then, setLevel })}
          />
        </>
      );
    case 'setTtl':
      return <TtlFields value={then.setTtl ?? 0} onChange={(setTtl) => onChange({ ...then, setTtl })} />;
    case 'throttle':
      return (
        <ThrottleFields
          value={then.throttle ?? initialActions.throttle}
          onChange={(throttle) => onChange({ ...then, throttle })}
          problem={problem}
        />
      );
    case 'escalate':
      return (
        <EscalationFields
          value={then.escalate ?? initialActions.escalate}
          onChange={(escalate) => onChange({ ...then, escalate })}
          problem={problem}
        />
      );
    case 'suppress':
      return (
        <SuppressFields
          value={then.suppress ?? initialActions.suppress}
          onChange={(suppress) => onChange({ ...then, suppress })}
          problems={problems}
        />
      );
    case 'instructions':
      return (
        <InstructionsField
          value={then.instructions ?? ''}
          onChange={(instructions) => onChange({ ...then, instructions })}
          problem={problem}
        />
      );
    case 'group':
      return (
        <>
          <span className={styles.field}>{t('group.same')}</span>
          <FieldsSelect
            label={t('action.group')}
            fields={groupFields}
            value={then.group ?? initialActions.group}
            onChange={(group) => onChange({ ...then, group: group as GroupField[] })}
            emptyText={t('missing.values')}
            most={maxGroupFields}
            problem={problem}
          />
        </>
      );
    case 'acknowledgeForMs':
      return (
        <AcknowledgeFields
          value={then.acknowledgeForMs ?? 0}
          onChange={(acknowledgeForMs) => onChange({ ...then, acknowledgeForMs })}
          problem={problem}
        />
      );
  }
}

function ChannelFields({
  value: channels,
  onChange,
  problem,
}: Field<string[]> & { problem: FieldProblem | undefined }) {
  const { t } = useTranslation('rules');
  const { data: known = [] } = useQuery(channelsQuery(useTenant()));
  const names = new Map(known.map(({ id, name }) => [id, name]));
  return (
    <>
      <span className={styles.field}>{t('sendTo')}</span>
      <MultiSelect
        size="xs"
        className={styles.values ?? ''}
        aria-label={t('action.channels')}
        placeholder={channels.length === 0 ? t('channels.choose') : ''}
        nothingFoundMessage={t('channels.none')}
        error={problem !== undefined}
        searchable
        data={[...new Set([...names.keys(), ...channels])].map((id) => ({
          value: id,
          label: names.get(id) ?? id,
        }))}
        value={channels}
        onChange={onChange}
      />
    </>
  );
}

function OnCallFields({ value, onChange }: Field<string>) {
  const { t } = useTranslation('rules');
  const { data: known = [] } = useQuery(onCallQuery(useTenant()));
  const names = new Map(known.map(({ id, name }) => [id, name]));
  return (
    <>
      <span className={styles.field}>{t('onCall.notify')}</span>
      <EditorSelect
        label={t('action.onCall')}
        value={value}
        onChange={onChange}
        options={[
          ['', t('onCall.choose'), true],
          ...[...new Set([...names.keys(), ...(value === '' ? [] : [value])])].map(
            (id) => [id, names.get(id) ?? id] as const,
          ),
        ]}
      />
    </>
  );
}

function InstructionsField({
  value,
  onChange,
  problem,
}: Field<string> & { problem: FieldProblem | undefined }) {
  const { t } = useTranslation('rules');
  return (
    <>
      <span className={styles.field}>{t('showInstructions')}</span>
      <Textarea
        size="xs"
        className={styles.text ?? ''}
        aria-label={t('instructionsText')}
        placeholder={t('instructionsExample')}
        error={problem !== undefined}
        maxLength={limits.instructionsChars}
        autosize
        minRows={2}
        maxRows={12}
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
    </>
  );
}

function TtlFields({ value: ms, onChange }: Field<number>) {
  const { t } = useTranslation('rules');
  const label = t('action.setTtl');
  return (
    <>
      <span className={styles.field}>{t('showIt')}</span>
      <EditorSelect
        label={label}
        value={ms === 0 ? 'cleared' : 'for'}
        onChange={(kind) => onChange(kind === 'cleared' ? 0 : initialActions.setTtl)}
        options={[
          ['for', t('ttl.for')],
          ['cleared', t('untilCleared')],
        ]}
      />
      {ms > 0 && (
        <DurationField size="xs" label={label} ms={ms} onChange={(next) => next > 0 && onChange(next)} />
      )}
    </>
  );
}

function AcknowledgeFields({
  value: ms,
  onChange,
  problem,
}: Field<number> & { problem: FieldProblem | undefined }) {
  const { t } = useTranslation('rules');
  const label = t('action.acknowledgeForMs');
  return (
    <>
      <span className={styles.field}>{t('acknowledgeFor')}</span>
      <EditorSelect
        label={label}
        value={ms === 0 ? 'stay' : 'for'}
        onChange={(kind) => onChange(kind === 'stay' ? 0 : initialActions.acknowledgeForMs)}
        options={[
          ['for', t('acknowledge.for')],
          ['stay', t('acknowledge.stay')],
        ]}
      />
      {ms > 0 && (
        <DurationField
          size="xs"
          label={label}
          ms={ms}
          onChange={(next) => next > 0 && onChange(next)}
          error={problem !== undefined}
        />
      )}
    </>
  );
}

type Throttle = NonNullable<RuleThen['throttle']>;

function ThrottleFields({
  value: throttle,
  onChange,
  problem,
}: Field<Throttle> & { problem: FieldProblem | undefined }) {
  const { t } = useTranslation('rules');
  return (
    <>
      <span className={styles.field}>{t('throttle.oneIn')}</span>
      <DurationField
        size="xs"
        label={t('action.throttle')}
        ms={throttle.perMs}
        onChange={(perMs) => perMs > 0 && onChange({ ...throttle, perMs })}
        longest="h"
      />
      <span className={styles.words}>{t('throttle.same')}</span>
      <FieldsSelect
        label={t('throttle.same')}
        fields={throttleFields}
        value={throttle.by}
        onChange={(by) => onChange({ ...throttle, by: by as Throttle['by'] })}
        emptyText={t('throttle.any')}
        problem={problem}
      />
    </>
  );
}
