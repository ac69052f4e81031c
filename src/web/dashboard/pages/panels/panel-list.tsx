import { Button, SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Panel } from '#contract/panel.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { FilterField } from '#web/dashboard/pieces/fields/filter-field.tsx';
import { useRowKeys } from '#web/dashboard/pieces/rows/row-keys.ts';
import { RowTable } from '#web/dashboard/pieces/rows/row-table.tsx';
import styles from './panel-list.module.css';
import { PanelTableRow } from './panel-row.tsx';

const states = ['all', 'online', 'offline'] as const;
/** A table of thousands would keep the page busy: more come when they are asked for. */
const pageRows = 200;

/** @param props.panels undefined until they are here for the first time. */
export function PanelList({
  panels,
  onOpen,
}: {
  panels: readonly Panel[] | undefined;
  onOpen: (id: string) => void;
}) {
  const { t } = useTranslation('panels');
  const [filter, setFilter] = useState('');
  const [state, setState] = useState<(typeof states)[number]>('all');
  const [most, setMost] = useState(pageRows);
  const rows = useRowKeys<HTMLTableElement>();
  const wanted = filter.trim().toLowerCase();
  const all = panels ?? [];
  const online = all.filter((panel) => panel.online).length;
  const counts = { all: all.length, online, offline: all.length - online };
  const shown = all.filter(
    (panel) => (state === 'all' || panel.online === (state === 'online')) && matches(panel, wanted),
  );
  return (
    <>
      <div className={styles.tools}>
        <FilterField label={t('filter')} value={filter} onChange={setFilter} onEnterList={rows.enter} />
        <SegmentedControl
          size="xs"
          aria-label={t('state')}
          value={state}
          onChange={setState}
          data={states.map((each) => ({
            value: each,
            label: panels ? `${t(`only.${each}`)} ${counts[each]}` : t(`only.${each}`),
          }))}
        />
      </div>
      <PanelTable rows={rows} panels={panels && shown.slice(0, most)} onOpen={onOpen} />
      {shown.length > most && (
        <Button mt="sm" onClick={() => setMost(most + pageRows)}>
          {t('showMore', { count: shown.length - most })}
        </Button>
      )}
    </>
  );
}

function PanelTable({
  rows,
  panels,
  onOpen,
}: {
  rows: ReturnType<typeof useRowKeys<HTMLTableElement>>;
  panels: readonly Panel[] | undefined;
  onOpen: (id: string) => void;
}) {
  const { t } = useTranslation('panels');
  const { may } = useTenant();
  return (
    <RowTable
      rows={rows}
      caption={t('title')}
      className={styles.table}
      isWaiting={!panels}
      nothing={panels?.length === 0 && t('noneMatch')}
      hint={[t('keys'), may('member') && t('keys.member'), may('admin') && t('keys.admin')]
        .filter(Boolean)
        .join(' · ')}
      head={
        <>
          <th className={styles.state}>
            <span className={styles.word}>{t('state')}</span>
          </th>
          <th>{t('name')}</th>
          <th className={styles.shows}>{t('shows')}</th>
          <th className={styles.tags}>{t('tags')}</th>
          <th className={styles.seen}>{t('seen')}</th>
          <th className={styles.lag} title={t('lagHint')}>
            {t('lag')}
          </th>
          <th className={styles.version}>{t('version')}</th>
          <th className={styles.address}>{t('address')}</th>
          {may('member') && (
            <th className={styles.actions}>
              <span className="hidden">{t('actions')}</span>
            </th>
          )}
        </>
      }
    >
      {panels?.map((panel) => (
        <PanelTableRow key={panel.id} panel={panel} onOpen={onOpen} />
      ))}
    </RowTable>
  );
}

const matches = ({ name, location, tags, address }: Panel, wanted: string) =>
  wanted === '' ||
  [name, location ?? '', address ?? '', ...tags].some((text) => text.toLowerCase().includes(wanted));
