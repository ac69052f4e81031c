import onlineIcon from 'virtual:icon/circle-check';
import neverIcon from 'virtual:icon/clock';
import offlineIcon from 'virtual:icon/plug-connected-x';
import { useTranslation } from 'react-i18next';
import type { Panel } from '../../../../contract/panel.ts';
import { Icon } from '../../pieces/icon.tsx';
import styles from './panel-list.module.css';

const icons = { online: onlineIcon, offline: offlineIcon, never: neverIcon };

export function stateOf({ online, lastSeenAt }: Pick<Panel, 'online' | 'lastSeenAt'>): keyof typeof icons {
  if (online) return 'online';
  return lastSeenAt === null ? 'never' : 'offline';
}

/** Whether a panel is connected: word, icon and colour. */
export function PanelMark({ panel }: { panel: Panel }) {
  const { t } = useTranslation('panels');
  const state = stateOf(panel);
  return (
    <span className={`${styles.mark} ${styles[state]}`} title={t(`state.${state}.hint`)}>
      <Icon paths={icons[state]} size={15} />
      <span className={styles.word}>{t(`state.${state}`)}</span>
    </span>
  );
}
