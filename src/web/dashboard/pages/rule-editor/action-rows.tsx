import plusIcon from 'virtual:icon/plus';
import { Button, Menu, MultiSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { PanelsTarget } from '#contract/notification.ts';
import { type RuleThen, throttleFields } from '#contract/rule.ts';
import { panelsQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { DurationField } from '#web/dashboard/components/duration-field.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { LevelSelect } from '#web/dashboard/components/level-select.tsx';
import styles from './editor.module.css';
import { EditorRow, ProblemText } from './editor-row.tsx';
import type { FieldProblems } from './rule-problem.ts';
import { EndPicker } from './time-rows.tsx';
import { ValueField } from './value-field.tsx';

const actions = ['panels', 'mute', 'setLevel', 'setTtl', 'throttle'] as const;
type Action = (typeof actions)[number];

const initialActions: Readonly<Required<RuleThen>> = {
  panels: 'all',
  mute: true,
  setLevel: 'error',
  setTtl: 30_000,
  throttle: { by: ['host', 'title'], perMs: 300_000 },
};

interface ActionRowsProps {
  readonly then: RuleThen;
  readonly onChange: (then: RuleThen) => void;
  readonly activeUntil: string | null;
  readonly onEnd: (activeUntil: string | null) => void;
  readonly problems: FieldProblems;
}

/** "→ panels tagged noc, show 5 s": a row for each action. */
export function ActionRows({ then, onChange, activeUntil, onEnd, problems }: ActionRowsProps) {
  const { t } = useTranslation('rules');
  const given = actions.filter((action) => then[action] !== undefined && then[action] !== false);
  const left = actions.filter((action) => !given.includes(action));
  const row = (action: Action, index: number) => ({
    lead: index === 0 ? '→' : t('lead.and'),
    problem: problems.at(`then.${action}`),
    removeLabel: t('removeAction', { name: t(`action.${action}`) }),
    onRemove: () => {
      const { [action]: _, ...rest } = then;
      onChange(rest);
    },
  });
  return (
    <>
      {given.map((action, index) => (
        <ActionRow
          key={action}
          action={action}
          row={row(action, index)}
          {...{ then, onChange, activeUntil, onEnd }}
        />
      ))}
      <div className={styles.row}>
        <span className={styles.lead}>{given.length === 0 ? '→' : t('lead.and')}</span>
        <div>
          <Menu position="bottom-start" width={280}>
            <Menu.Target>
              <Button
                size="xs"
                variant="subtle"
                className={styles.add ?? ''}
                leftSection={<Icon paths={plusIcon} size={14} />}
                disabled={left.length === 0}
              >
                {t('addAction')}
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              {left.map((action) => (
                <Menu.Item
                  key={action}
                  onClick={() => onChange({ ...then, [action]: initialActions[action] })}
                >
                  {t(`action.${action}`)}
                </Menu.Item>
              ))}
            </Menu.Dropdown>
          </Menu>
          <ProblemText problem={problems.at('then')} />
        </div>
      </div>
    </>
  );
}

type Row = Omit<Parameters<typeof EditorRow>[0], 'children'>;

function ActionRow({
  action,
  row,
  then,
  onChange,
  activeUntil,
  onEnd,
}: Omit<ActionRowsProps, 'problems'> & { action: Action; row: Row }) {
  const { t } = useTranslation('rules');
  switch (action) {
    case 'panels':
      return (
        <PanelsRow
          row={row}
          target={then.panels ?? 'all'}
          onChange={(panels) => onChange({ ...then, panels })}
        />
      );
    case 'mute':
      return (
        <EditorRow {...row}>
          <span className={styles.field}>{t('muteIt')}</span>
          <span className={styles.words}>{t('until')}</span>
          <EndPicker value={activeUntil} onChange={onEnd} />
        </EditorRow>
      );
    case 'setLevel':
      return (
        <EditorRow {...row}>
          <span className={styles.field}>{t('makeIt')}</span>
          <LevelSelect
            variant="unstyled"
            size="xs"
            classNames={{ input: styles.select ?? '' }}
            aria-label={t('action.setLevel')}
            value={then.setLevel ?? ''}
            onChange={(setLevel) => onChange({ ...then, setLevel })}
          />
        </EditorRow>
      );
    case 'setTtl':
      return <TtlRow row={row} ms={then.setTtl ?? 0} onChange={(setTtl) => onChange({ ...then, setTtl })} />;
    case 'throttle':
      return then.throttle ? (
        <ThrottleRow
          row={row}
          throttle={then.throttle}
          onChange={(throttle) => onChange({ ...then, throttle })}
        />
      ) : null;
  }
}

function TtlRow({ row, ms, onChange }: { row: Row; ms: number; onChange: (ms: number) => void }) {
  const { t } = useTranslation('rules');
  return (
    <EditorRow {...row}>
      <span className={styles.field}>{t('showIt')}</span>
      <select
        className={styles.select}
        aria-label={t('action.setTtl')}
        value={ms === 0 ? 'cleared' : 'for'}
        onChange={({ target }) => onChange(target.value === 'cleared' ? 0 : initialActions.setTtl)}
      >
        <option value="for">{t('ttl.for')}</option>
        <option value="cleared">{t('ttl.cleared')}</option>
      </select>
      {ms !== 0 && <DurationField size="xs" label={t('action.setTtl')} ms={ms} onChange={onChange} />}
    </EditorRow>
  );
}

function ThrottleRow({
  row,
  throttle,
  onChange,
}: {
  row: Row;
  throttle: NonNullable<RuleThen['throttle']>;
  onChange: (throttle: NonNullable<RuleThen['throttle']>) => void;
}) {
  const { t } = useTranslation('rules');
  const { t: words } = useTranslation('ruleSentence');
  return (
    <EditorRow {...row}>
      <span className={styles.field}>{t('throttle.oneIn')}</span>
      <DurationField
        size="xs"
        label={t('action.throttle')}
        ms={throttle.perMs}
        onChange={(perMs) => onChange({ ...throttle, perMs })}
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
        onChange={(by) => onChange({ ...throttle, by: by as typeof throttle.by })}
      />
    </EditorRow>
  );
}

const kinds = ['all', 'none', 'tags', 'ids'] as const;
type Kind = (typeof kinds)[number];

/** Which panels: all, none, those with a tag, or some by name. */
function PanelsRow({
  row,
  target,
  onChange,
}: {
  row: Omit<Parameters<typeof EditorRow>[0], 'children'>;
  target: PanelsTarget;
  onChange: (target: PanelsTarget) => void;
}) {
  const { t } = useTranslation('rules');
  const { data: panels = [] } = useQuery(panelsQuery(useTenant()));
  const kind: Kind = typeof target === 'string' ? target : 'tags' in target ? 'tags' : 'ids';
  const choose = (wanted: Kind) =>
    onChange(wanted === 'tags' ? { tags: [] } : wanted === 'ids' ? { ids: [] } : wanted);
  const tags = [...new Set(panels.flatMap((panel) => panel.tags))].sort();
  const label = t(`panels.${kind}`);
  return (
    <EditorRow {...row}>
      <select
        className={styles.select}
        aria-label={t('action.panels')}
        value={kind}
        onChange={({ target: { value } }) => choose(value as Kind)}
      >
        {kinds.map((each) => (
          <option key={each} value={each}>
            {t(`panels.${each}`)}
          </option>
        ))}
      </select>
      {typeof target === 'object' && 'tags' in target && (
        <ValueField
          label={label}
          placeholder={t('panels.tagExample')}
          values={target.tags}
          onChange={(next) => onChange({ tags: next })}
          offers={tags}
          splitChars={[',', ' ']}
          problem={row.problem}
          isMono
        />
      )}
      {typeof target === 'object' && 'ids' in target && (
        <MultiSelect
          size="xs"
          className={styles.values ?? ''}
          aria-label={label}
          placeholder={target.ids.length === 0 ? t('panels.choose') : ''}
          error={row.problem !== undefined}
          searchable
          data={[
            ...panels.map(({ id, name }) => ({ value: id, label: name })),
            ...target.ids
              .filter((id) => !panels.some((panel) => panel.id === id))
              .map((id) => ({ value: id, label: id })),
          ]}
          value={target.ids}
          onChange={(ids) => onChange({ ids })}
        />
      )}
    </EditorRow>
  );
}
