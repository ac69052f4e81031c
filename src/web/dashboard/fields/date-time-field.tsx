import calendarIcon from 'virtual:icon/calendar';
import { ActionIcon, TextInput, type TextInputProps } from '@mantine/core';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { localeOf } from '#web/dashboard/formats/formats.ts';
import { dateTimeText, parseDateTime } from '#web/dashboard/formats/wall-clock.ts';
import styles from './date-time-field.module.css';

type Props = Pick<
  TextInputProps,
  'label' | 'aria-label' | 'description' | 'error' | 'size' | 'className' | 'title' | 'autoFocus'
> & {
  /** 2026-11-22T08:00, or empty. */
  value: string;
  onChange: (value: string) => void;
};

/**
 * A date and time in the order of the locale, typed or chosen from the browser's calendar. A plain
 * `datetime-local` field follows the browser's own language, not the page's.
 */
export function DateTimeField({ value, onChange, error, ...rest }: Props) {
  const { t, i18n } = useTranslation();
  const locale = localeOf(i18n.language);
  const picker = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState<string>();
  const isWrong = typed !== undefined && typed !== '' && parseDateTime(typed, locale) === undefined;
  const example = dateTimeText('2026-12-31T08:00', locale);
  return (
    <TextInput
      {...rest}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      placeholder={t('date.example', { example })}
      value={typed ?? dateTimeText(value, locale)}
      error={isWrong ? t('date.wrong', { example }) : error}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        onChange(parseDateTime(currentTarget.value, locale) ?? '');
      }}
      onBlur={() => !isWrong && setTyped(undefined)}
      rightSection={
        <>
          <input
            ref={picker}
            type="datetime-local"
            className={styles.picker}
            tabIndex={-1}
            aria-hidden="true"
            value={value}
            onChange={({ currentTarget }) => {
              setTyped(undefined);
              onChange(currentTarget.value);
            }}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={t('date.choose')}
            onClick={() => picker.current?.showPicker()}
          >
            <Icon paths={calendarIcon} size={16} />
          </ActionIcon>
        </>
      }
    />
  );
}
