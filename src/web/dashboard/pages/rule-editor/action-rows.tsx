import { MultiSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { type RuleThen, throttleFields } from '#contract/routing/rule.ts';
import { channelsQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { DurationField } from '#web/dashboard/fields/duration-field.tsx';
import type { Field } from '#web/dashboard/fields/field.ts';
import styles from './editor.module.css';
import { AddRow, EditorLevelSelect, EditorRow, EditorSelect } from './editor-row.tsx';
import { EscalationFields, initialStep } from './escalation-fields.tsx';
import type { FieldProblem, FieldProblems } from './rule-problem.ts';
import { TargetFields } from './target-fields.tsx';
import { EndPicker } from './time-rows.tsx';

const initialActions: Readonly<Required<RuleThen>> = {
  panels: 'all',
  channels: [],
  mute: true,
  setLevel: 'error',
  setTtl: 30_000,
  throttle: { by: ['host', 'title'], perMs: 300_000 },
  escalate: [initialStep],
};
type Action = keyof RuleThen;
const actions = Object.keys(initialActions) as Action[];

interface ActionProps {
  readonly then: RuleThen;
  readonly onChange: (then: RuleThen) => void;
  readonly activeUntil: string | null;
  readonly onEnd: (activeUntil: string | null) => void;
}

/** "→ panels tagged noc, show 5 s": a row for each action. */
export function ActionRows({ problems, ...props }: ActionProps & { problems: FieldProblems }) {
  const { t } = useTranslation('rules');
  const { then, onChange } = props;
  const given = actions.filter((action) => then[action] !== undefined && then[action] !== false);
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

function ActionFields({
  action,
  problem,
  then,
  onChange,
  activeUntil,
  onEnd,
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

type Throttle = NonNullable<RuleThen['throttle']>;

function ThrottleFields({ value: throttle, onChange }: Field<Throttle>) {
  const { t } = useTranslation('rules');
  const { t: words } = useTranslation('ruleSentence');
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
      <MultiSelect
        size="xs"
        className={styles.values ?? ''}
        aria-label={t('throttle.same')}
        placeholder={throttle.by.length === 0 ? t('throttle.any') : ''}
        data={throttleFields.map((value) => ({ value, label: words(`field.${value}`) }))}
        value={throttle.by}
        onChange={(by) => onChange({ ...throttle, by: by as Throttle['by'] })}
      />
    </>
  );
}
