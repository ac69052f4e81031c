/** Which panels a rule or a step of an escalation names. */
import { MultiSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { PanelsTarget } from '#contract/history/notification.ts';
import { panelsQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { knownTags } from '../panels/panel-values.ts';
import type { FieldProblem } from './draft.ts';
import styles from './editor.module.css';
import { EditorSelect, ValueField } from './editor-row.tsx';

/** `same`: no panels are named; those that are named are added to the same ones then. */
type TargetKind = 'same' | 'all' | 'none' | 'tags' | 'ids';

/** Which panels: all, none, those with a tag, or some by name. */
export function TargetFields({
  target,
  kinds,
  onChange,
  problem,
}: {
  target: PanelsTarget | undefined;
  kinds: readonly TargetKind[];
  onChange: (target: PanelsTarget | undefined) => void;
  problem: FieldProblem | undefined;
}) {
  const { t } = useTranslation('rules');
  const { data: panels = [] } = useQuery(panelsQuery(useTenant()));
  const kind = kindOf(target);
  const textOf = (each: TargetKind) =>
    kinds.includes('same') && (each === 'tags' || each === 'ids')
      ? t(`panels.also.${each}`)
      : t(`panels.${each}`);
  const label = textOf(kind);
  const names = new Map(panels.map(({ id, name }) => [id, name]));
  return (
    <>
      <EditorSelect
        label={t('action.panels')}
        value={kind}
        onChange={(next) => onChange(initialTargets[next])}
        options={kinds.map((each) => [each, textOf(each)] as const)}
      />
      {typeof target === 'object' && 'tags' in target && (
        <ValueField
          label={label}
          placeholder={t('panels.tagExample')}
          values={target.tags}
          onChange={(tags) => onChange({ tags })}
          offers={knownTags(panels)}
          splitChars={[',', ' ']}
          problem={problem}
          isMono
        />
      )}
      {typeof target === 'object' && 'ids' in target && (
        <MultiSelect
          size="xs"
          className={styles.values ?? ''}
          aria-label={label}
          placeholder={target.ids.length === 0 ? t('panels.choose') : ''}
          error={problem !== undefined}
          searchable
          data={[...new Set([...names.keys(), ...target.ids])].map((id) => ({
            value: id,
            label: names.get(id) ?? id,
          }))}
          value={target.ids}
          onChange={(ids) => onChange({ ids })}
        />
      )}
    </>
  );
}

const initialTargets: Readonly<Record<TargetKind, PanelsTarget | undefined>> = {
  same: undefined,
  all: 'all',
  none: 'none',
  tags: { tags: [] },
  ids: { ids: [] },
};

function kindOf(target: PanelsTarget | undefined): TargetKind {
  if (target === undefined) return 'same';
  if (typeof target === 'string') return target;
  return 'tags' in target ? 'tags' : 'ids';
}
