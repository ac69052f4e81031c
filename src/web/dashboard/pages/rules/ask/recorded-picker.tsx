import { TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { HistoryNotification } from '#contract/notification.ts';
import { recordedQuery } from '#web/dashboard/api/routing.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { LevelMark } from '#web/dashboard/pieces/level-mark.tsx';
import { Ago } from '#web/dashboard/pieces/time/ago.tsx';
import styles from './ask.module.css';

/** One of the notifications in history. */
export function RecordedPicker({
  chosen,
  onChoose,
}: {
  chosen: HistoryNotification | undefined;
  onChoose: (id: string) => void;
}) {
  const { t } = useTranslation('rules');
  const [typed, setTyped] = useState('');
  const [q] = useDebouncedValue(typed.trim(), 300);
  const { data, error } = useQuery(recordedQuery(useTenant(), q));
  const others = data?.filter(({ id }) => id !== chosen?.id) ?? [];
  return (
    <div className={styles.picker}>
      <TextInput
        size="xs"
        label={t('explain.find')}
        placeholder="host:db-* level:>=warning"
        classNames={{ input: styles.mono ?? '' }}
        value={typed}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        error={error?.message}
      />
      <ul className={styles.recorded}>
        {chosen && <Recorded notification={chosen} isChosen onChoose={onChoose} />}
        {others.map((notification) => (
          <Recorded key={notification.id} notification={notification} onChoose={onChoose} />
        ))}
      </ul>
      {data?.length === 0 && <p className={styles.hint}>{t('explain.noneFound')}</p>}
    </div>
  );
}

function Recorded({
  notification: { id, title, host, level, receivedAt },
  isChosen = false,
  onChoose,
}: {
  notification: HistoryNotification;
  isChosen?: boolean;
  onChoose: (id: string) => void;
}) {
  return (
    <li>
      <button type="button" aria-pressed={isChosen} onClick={() => onChoose(id)}>
        <LevelMark name={level} iconOnly />
        <bdi className={styles.recordedTitle}>{title}</bdi>
        <bdi className="mono muted">{host}</bdi>
        <span className="muted">
          <Ago at={receivedAt} />
        </span>
      </button>
    </li>
  );
}
