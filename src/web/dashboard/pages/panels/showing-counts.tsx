import { iconPaths } from 'virtual:icons';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { PanelShowing } from '#contract/panel.ts';
import { panelShowingQuery } from '#web/dashboard/api/panels.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/pieces/icon.tsx';
import { useLevelLook } from '#web/dashboard/pieces/level-mark.tsx';
import styles from './panel-list.module.css';

const mostLevels = 4;

/** What a panel shows now, as a number a level, the most serious first. */
export function ShowingCounts({ id }: { id: string }) {
  const { t } = useTranslation('panels');
  const lookOf = useLevelLook();
  const { data } = useQuery(panelShowingQuery(useTenant(), id));
  if (!data) return null;
  const counts = countByLevel(data);
  const rest = counts.slice(mostLevels).reduce((sum, { count }) => sum + count, data.more);
  if (counts.length === 0) return <span className="muted">{t('quiet')}</span>;
  return (
    <span className={styles.counts}>
      {counts.slice(0, mostLevels).map(({ level, count }) => {
        const { word, icon, color } = lookOf(level);
        return (
          <span key={level} className={styles.count} style={{ color }} title={`${count} ${word}`}>
            <Icon paths={iconPaths[icon] ?? iconPaths.bell ?? []} size={15} />
            {count}
            <span className="hidden"> {word}</span>
          </span>
        );
      })}
      {rest > 0 && <span className="muted">+{rest}</span>}
    </span>
  );
}

export function countByLevel({ notifications }: Pick<PanelShowing, 'notifications'>) {
  const counts = new Map<string, { level: string; rank: number; count: number }>();
  for (const { level, rank } of notifications) {
    const entry = counts.get(level) ?? { level, rank, count: 0 };
    entry.count += 1;
    counts.set(level, entry);
  }
  return [...counts.values()].sort((a, b) => b.rank - a.rank);
}
