import { MultiSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { PanelsTarget } from '#contract/notification.ts';
import { panelsQuery } from '#web/dashboard/api/panels.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import styles from './editor.module.css';
import { EditorRow } from './editor-row.tsx';
import { ValueField } from './value-field.tsx';

const kinds = ['all', 'none', 'tags', 'ids'] as const;
type Kind = (typeof kinds)[number];

/** Which panels: all, none, those with a tag, or some by name. */
export function PanelsRow({
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
          isWrong={row.fault !== undefined}
          wrongAt={row.fault?.at}
          describedBy={row.fault?.id ?? ''}
          isMono
        />
      )}
      {typeof target === 'object' && 'ids' in target && (
        <MultiSelect
          size="xs"
          className={styles.values ?? ''}
          aria-label={label}
          placeholder={target.ids.length === 0 ? t('panels.choose') : ''}
          error={row.fault !== undefined}
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
