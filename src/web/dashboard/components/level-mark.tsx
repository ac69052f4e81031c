import { iconPaths } from 'virtual:icons';
import { type CSSProperties, useCallback } from 'react';
import { useTranslation } from 'react-i18next';
import type { Level } from '#contract/routing/level.ts';
import { type LevelLook, levelLook } from '#web/level-look.ts';
import { useLevels } from '../api/queries.ts';
import { useScheme } from '../theme/theme.ts';
import { Icon } from './icon.tsx';
import styles from './level-mark.module.css';

/** A level's word, icon and colours, as the tenant styled it. */
export function useLevelLook(): (name: string, as?: Level) => LevelLook {
  const levels = useLevels();
  const scheme = useScheme();
  const { t } = useTranslation();
  return useCallback(
    (name, as) =>
      levelLook(name, as ?? levels.get(name), scheme, (builtIn) => t(`level.${builtIn as 'info'}`)),
    [levels, scheme, t],
  );
}

/** A level in its colour, with its icon; critical is the only filled one. */
export function LevelMark({ name, as, iconOnly = false }: { name: string; as?: Level; iconOnly?: boolean }) {
  const look = useLevelLook()(name, as);
  const filled = name === 'critical' && !iconOnly;
  const style = (filled ? { backgroundColor: look.fill } : { color: look.color }) satisfies CSSProperties;
  return (
    <span
      className={filled ? styles.filled : styles.mark}
      style={style}
      title={iconOnly ? look.word : undefined}
    >
      <Icon paths={iconPaths[look.icon] ?? iconPaths.bell ?? []} size={15} />
      <span className={iconOnly ? 'hidden' : styles.word}>{look.word}</span>
    </span>
  );
}
