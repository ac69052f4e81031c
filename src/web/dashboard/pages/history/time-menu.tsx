import chevronIcon from 'virtual:icon/chevron-down';
import { Button, Popover, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/pieces/icon.tsx';
import { fromDateTimeField, toDateTimeField } from '#web/dashboard/pieces/time/wall-clock.ts';
import {
  ageMs,
  ageText,
  quickRanges,
  readTimeRange,
  type TimeRange,
  withTimeRange,
} from '#web/dashboard/query/time-range.ts';
import styles from './time-menu.module.css';

/** The time the search is about: read from the search, and written into it. */
export function TimeMenu({ q, onSearch }: { q: string; onSearch: (text: string) => void }) {
  const { t } = useTranslation('history');
  const [opened, setOpened] = useState(false);
  const range = readTimeRange(q);
  const choose = (next: TimeRange) => {
    setOpened(false);
    onSearch(withTimeRange(q, next));
  };
  const isQuick = range.since !== undefined && !range.after && !range.before;
  return (
    <Popover opened={opened} onChange={setOpened} position="bottom-start" width={280} trapFocus>
      <Popover.Target>
        <button type="button" className={styles.target} onClick={() => setOpened((was) => !was)}>
          <span className="hidden">{t('timeRange')}: </span>
          {isQuick && ageMs(range.since ?? '') !== undefined
            ? ageText(range.since ?? '')
            : range.since || range.after || range.before
              ? spanText(range)
              : t('allTime')}
          <Icon paths={chevronIcon} size={14} />
        </button>
      </Popover.Target>
      <Popover.Dropdown className={styles.dropdown} aria-label={t('timeRange')}>
        <div className={styles.quick}>
          {quickRanges.map((name) => (
            <Button
              key={name}
              size="xs"
              variant={isQuick && range.since === name ? 'light' : 'default'}
              aria-pressed={isQuick && range.since === name}
              onClick={() => choose({ since: name })}
            >
              {ageText(name)}
            </Button>
          ))}
          <Button
            size="xs"
            variant={Object.keys(range).length === 0 ? 'light' : 'default'}
            aria-pressed={Object.keys(range).length === 0}
            onClick={() => choose({})}
          >
            {t('allTime')}
          </Button>
        </div>
        <CustomRange key={q} range={range} onChoose={choose} />
      </Popover.Dropdown>
    </Popover>
  );
}

const spanText = ({ since, after, before }: TimeRange) =>
  `${(after ?? since ?? '').replace('T', ' ')} – ${(before ?? '').replace('T', ' ')}`.trim();

function CustomRange({ range, onChoose }: { range: TimeRange; onChoose: (range: TimeRange) => void }) {
  const { t } = useTranslation('history');
  const { timeZone } = useTenant();
  const local = (text: string | undefined) =>
    text && /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/.test(text) ? text : '';
  const [after, setAfter] = useState(local(range.after) || toDateTimeField(Date.now() - 3_600_000, timeZone));
  const [before, setBefore] = useState(local(range.before));
  const isBackward =
    after !== '' &&
    before !== '' &&
    (fromDateTimeField(before, timeZone) ?? 0) <= (fromDateTimeField(after, timeZone) ?? 0);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isBackward) onChoose({ ...(after && { after }), ...(before && { before }) });
  };
  return (
    <form className={styles.custom} onSubmit={submit}>
      <TextInput
        type="datetime-local"
        label={t('from')}
        value={after}
        onChange={(event) => setAfter(event.currentTarget.value)}
      />
      <TextInput
        type="datetime-local"
        label={t('until')}
        value={before}
        onChange={(event) => setBefore(event.currentTarget.value)}
        error={isBackward ? t('backward') : undefined}
      />
      <div className={styles.zone}>
        <span>{timeZone}</span>
        <Button type="submit" size="xs" disabled={isBackward || (after === '' && before === '')}>
          {t('show')}
        </Button>
      </div>
    </form>
  );
}
