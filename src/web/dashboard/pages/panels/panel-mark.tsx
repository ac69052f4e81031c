import onlineIcon from 'virtual:icon/circle-check';
import neverIcon from 'virtual:icon/clock';
import offlineIcon from 'virtual:icon/plug-connected-x';
import { useTranslation } from 'react-i18next';
import type { Panel } from '#contract/panel.ts';
import { StateMark } from '#web/dashboard/pieces/state-mark.tsx';
import styles from './panel-list.module.css';

const looks = {
  online: { icon: onlineIcon, tone: 'good' },
  offline: { icon: offlineIcon, tone: 'doubtful' },
  never: { icon: neverIcon, tone: 'quiet' },
} as const;

export function stateOf({ online, lastSeenAt }: Pick<Panel, 'online' | 'lastSeenAt'>): keyof typeof looks {
  if (online) return 'online';
  return lastSeenAt === null ? 'never' : 'offline';
}

/** Whether a panel is connected: word, icon and colour. */
export function PanelMark({ panel }: { panel: Panel }) {
  const { t } = useTranslation('panels');
  const state = stateOf(panel);
  return (
    <StateMark {...looks[state]} title={t(`state.${state}.hint`)}>
      <span className={styles.word}>{t(`state.${state}`)}</span>
    </StateMark>
  );
}
