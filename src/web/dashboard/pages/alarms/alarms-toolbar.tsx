import downIcon from 'virtual:icon/chevron-down';
import groupIcon from 'virtual:icon/layout-list';
import { Button, Menu } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { type AlarmsTab, alarmsTabs } from '#contract/history/alarm-states.ts';
import type { AlarmList, AlarmRow } from '#web/dashboard/api/alarm-list.ts';
import type { TailState } from '#web/dashboard/api/event-stream.ts';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { useFormats, useNow } from '#web/dashboard/formats/use-formats.tsx';
import page from '../history/list-page.module.css';
import { ageMs } from './alarm-cells.tsx';
import { type Grouping, labelGrouping, labelNamesOf } from './alarm-groups.ts';
import styles from './alarms-page.module.css';
import { countIn } from './use-commands.ts';

/** The states, with how many alarms are in each, and whether the list is up to date. */
export function AlarmTabs({ list, tab, tail }: { list: AlarmList; tab: AlarmsTab; tail: TailState }) {
  const { t } = useTranslation('alarms');
  const formats = useFormats();
  const nav = useRef<HTMLElement>(null);
  const { counts } = list;
  const isCounted = counts !== undefined;
  // On a phone the tabs scroll to the side.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another tab, or the numbers have come
  useEffect(() => {
    nav.current?.querySelector('[data-here=true]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [tab, isCounted]);
  return (
    <div className={styles.tabs}>
      <nav ref={nav} aria-label={t('states')}>
        {alarmsTabs.map((each) => (
          <Link
            key={each}
            from="/t/$tenant/alarms"
            to="."
            search={({ tab: _tab, id: _id, ...search }) => ({
              ...search,
              ...(each !== 'open' && { tab: each }),
            })}
            className={styles.tab}
            activeOptions={{ exact: true, includeSearch: false }}
            aria-current={each === tab ? 'page' : undefined}
            {...(each === 'active' && { title: t('tab.activeHint') })}
            data-here={each === tab}
          >
            {t(`tab.${each}`)} <b>{counts && formats.number(countIn(each, counts))}</b>
          </Link>
        ))}
      </nav>
      <p className={styles.live}>
        <span className={styles.dot} data-state={tail} aria-hidden="true" />
        {t(`live.${tail}`)}
        <Oldest rows={list.rows} />
      </p>
    </div>
  );
}

function Oldest({ rows }: { rows: readonly AlarmRow[] }) {
  const { t } = useTranslation('alarms');
  const formats = useFormats();
  const now = useNow();
  const [first] = rows;
  if (!first) return null;
  const since = rows.reduce(
    (oldest, { alarm }) => (alarm.since < oldest ? alarm.since : oldest),
    first.alarm.since,
  );
  return (
    <span className={styles.oldest}> · {t('oldest', { age: formats.duration(ageMs(since, now)) })}</span>
  );
}

const mostLabels = 12;

/** Chooses how alarms are grouped. */
export function GroupingMenu({
  grouping,
  rows,
  onChoose,
}: {
  grouping: Grouping;
  rows: readonly AlarmRow[];
  onChoose: (grouping: Grouping) => void;
}) {
  const { t } = useTranslation('alarms');
  const labels = labelNamesOf(rows).slice(0, mostLabels).map(labelGrouping);
  const isOther = grouping.startsWith('label:') && !labels.includes(grouping);
  const choices = ['similar', 'host', ...labels, ...(isOther ? [grouping] : []), 'none'];
  const nameOf = (each: Grouping) =>
    each === 'similar' || each === 'host' || each === 'none'
      ? t(`group.${each}`)
      : each.slice('label:'.length);
  return (
    <Menu width={220}>
      <Menu.Target>
        <Button
          className={page.tool}
          aria-label={t('groupedBy', { what: nameOf(grouping) })}
          leftSection={<Icon paths={groupIcon} />}
          rightSection={<Icon paths={downIcon} size={14} />}
        >
          <span className={styles.toolName}>{nameOf(grouping)}</span>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t('groupBy')}</Menu.Label>
        {choices.map((each) => (
          <Menu.RadioItem
            key={each}
            value={each}
            closeMenuOnClick
            checked={each === grouping}
            onClick={() => onChoose(each)}
          >
            <bdi>{nameOf(each)}</bdi>
          </Menu.RadioItem>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
