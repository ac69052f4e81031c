import downloadIcon from 'virtual:icon/download';
import pauseIcon from 'virtual:icon/player-pause';
import playIcon from 'virtual:icon/player-play';
import { Button, Menu } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { TailState } from '#web/dashboard/api/tail.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/pieces/icon.tsx';
import styles from './history-toolbar.module.css';
import { SavedSearches } from './search/saved-searches.tsx';

/** Beside the search: follow it live, keep it, take what it finds elsewhere. */
export function HistoryToolbar({
  q,
  live,
  tail,
  onLive,
  onSearch,
}: {
  q: string;
  live: boolean;
  tail: TailState;
  onLive: () => void;
  onSearch: (text: string) => void;
}) {
  const { t } = useTranslation('history');
  const { api } = useTenant();
  return (
    <div className={styles.tools}>
      <Button
        className={styles.tool}
        variant={live ? 'light' : 'default'}
        aria-pressed={live}
        leftSection={
          live && tail === 'live' ? (
            <span className={styles.pulse} aria-hidden="true" />
          ) : (
            <Icon paths={live ? pauseIcon : playIcon} />
          )
        }
        onClick={onLive}
        title={live ? t(`tail.${tail}`) : t('liveHint')}
      >
        {t('live')}
        {live && <span className="hidden">: {t(`tail.${tail}`)}</span>}
      </Button>
      <SavedSearches q={q} onSearch={onSearch} />
      <Menu width={220}>
        <Menu.Target>
          <Button className={styles.tool} aria-label={t('export')} title={t('export')}>
            <Icon paths={downloadIcon} />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>{t('exportAll')}</Menu.Label>
          {(['csv', 'ndjson'] as const).map((format) => (
            <Menu.Item
              key={format}
              component="a"
              href={api.link('/api/history/export', { q: q || undefined, format })}
              download={`belfry-history.${format}`}
            >
              {t(`export.${format}`)}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    </div>
  );
}
