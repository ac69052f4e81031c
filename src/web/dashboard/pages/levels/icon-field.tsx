import { iconPaths } from 'virtual:icons';
import { useId } from 'react';
import { useTranslation } from 'react-i18next';
import { type LevelStyle, levelIcons } from '#contract/level-styles.ts';
import { Icon } from '#web/dashboard/pieces/icon.tsx';
import styles from './levels.module.css';

/** One of the icons that panels can draw; arrows move between them, as in any group of radio buttons. */
export function IconField({
  value,
  onChange,
}: {
  value: LevelStyle['icon'];
  onChange: (icon: LevelStyle['icon']) => void;
}) {
  const { t } = useTranslation('levels');
  const name = useId();
  return (
    <fieldset className={styles.icons}>
      <legend>{t('icon')}</legend>
      <p className={styles.about}>{t('iconHint')}</p>
      <div>
        {levelIcons.map((icon) => (
          <label key={icon} title={icon} className={icon === value ? styles.iconChosen : styles.icon}>
            <input
              type="radio"
              className="hidden"
              name={name}
              checked={icon === value}
              onChange={() => onChange(icon)}
              aria-label={icon}
            />
            <Icon paths={iconPaths[icon] ?? []} size={18} />
          </label>
        ))}
      </div>
    </fieldset>
  );
}
