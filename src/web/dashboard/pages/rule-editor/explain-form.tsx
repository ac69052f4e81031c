import { Textarea, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { HistoryNotification } from '#contract/notification.ts';
import { useLevels } from '#web/dashboard/api/queries.ts';
import { recordedQuery } from '#web/dashboard/api/rules.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Ago } from '#web/dashboard/components/ago.tsx';
import { LevelMark } from '#web/dashboard/components/level-mark.tsx';
import styles from './try-panels.module.css';
import type { Typed } from './use-explain.ts';

const shortFields = ['host', 'ip', 'key', 'sourceIp', 'token'] as const;

/** A notification as a sender would send it. */
export function TypedForm({
  typed,
  onChange,
  fault,
}: {
  typed: Typed;
  onChange: (typed: Typed) => void;
  fault: { readonly field: string; readonly text: string } | undefined;
}) {
  const { t } = useTranslation('rules');
  const { t: level } = useTranslation();
  const levels = useLevels();
  const set = (field: keyof Typed, value: string) => onChange({ ...typed, [field]: value });
  const faultOf = (field: string) => (fault?.field === field ? fault.text : undefined);
  return (
    <div className={styles.form}>
      <TextInput
        size="xs"
        label={t('typed.title')}
        className={styles.wide ?? ''}
        placeholder={t('example.typedTitle')}
        value={typed.title}
        onChange={({ currentTarget }) => set('title', currentTarget.value)}
      />
      <Textarea
        size="xs"
        rows={2}
        label={t('typed.message')}
        className={styles.wide ?? ''}
        value={typed.message}
        onChange={({ currentTarget }) => set('message', currentTarget.value)}
      />
      <div>
        <label className={styles.label}>
          {t('typed.level')}
          <select value={typed.level} onChange={({ target }) => set('level', target.value)}>
            {[...new Set([typed.level, ...levels.keys()])].map((name) => (
              <option key={name} value={name}>
                {levels.get(name)?.builtIn ? level(`level.${name as 'info'}`) : name}
              </option>
            ))}
          </select>
        </label>
      </div>
      {shortFields.map((field) => (
        <TextInput
          key={field}
          size="xs"
          label={t(`typed.${field}`)}
          placeholder={t(`typedExample.${field}`)}
          classNames={{ input: styles.mono ?? '' }}
          value={typed[field]}
          onChange={({ currentTarget }) => set(field, currentTarget.value)}
          error={faultOf(field)}
        />
      ))}
    </div>
  );
}

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
