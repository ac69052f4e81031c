import calendarIcon from 'virtual:icon/calendar';
import {
  ActionIcon,
  Group,
  NativeSelect,
  NumberInput,
  Select,
  type SelectProps,
  TextInput,
  type TextInputProps,
} from '@mantine/core';
import { useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { localeOf } from '#web/dashboard/formats/use-formats.tsx';
import { dateTimeText, parseDateTime, parseTime } from '#web/dashboard/formats/wall-clock.ts';
import { type DurationUnit, durationOf, msOf, unitNames } from '../formats/formats.ts';
import styles from './time-fields.module.css';

type DateTimeFieldProps = Pick<
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
export function DateTimeField({ value, onChange, error, ...rest }: DateTimeFieldProps) {
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

type TimeFieldProps = Omit<TextInputProps, 'value' | 'onChange' | 'onKeyDown' | 'onBlur'> & {
  /** 08:00, or empty. */
  value?: string;
  onChange: (value: string) => void;
};

/**
 * A time of day on the 24-hour clock. A plain `time` field follows the browser's own language, not the page's. While the text
 * cannot be read, the value is the one from before, which the field shows again when it is left.
 */
export function TimeField({ value = '', onChange, error, ...rest }: TimeFieldProps) {
  const [draft, setDraft] = useState<{ readonly text: string; readonly before: string }>();
  const isWrong = draft !== undefined && parseTime(draft.text) === undefined;
  return (
    <TextInput
      {...rest}
      inputMode="numeric"
      placeholder="--:--"
      maxLength={5}
      autoComplete="off"
      value={draft?.text ?? value}
      error={isWrong || error}
      onChange={({ currentTarget }) => {
        const before = draft?.before ?? value;
        setDraft({ text: currentTarget.value, before });
        onChange(parseTime(currentTarget.value) ?? before);
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Enter') return;
        // A wrong time must not be sent with the form. A right one is the new value.
        if (isWrong) event.preventDefault();
        else setDraft(undefined);
      }}
      onBlur={() => setDraft(undefined)}
    />
  );
}

/** A length of time: an amount and its unit. */
export function DurationField({
  label,
  ms,
  onChange,
  error,
  size = 'sm',
  longest = 'd',
}: {
  label: string;
  ms: number;
  /** NaN while the amount is missing or not above 0. */
  onChange: (ms: number) => void;
  error?: string | boolean | undefined;
  size?: 'xs' | 'sm';
  longest?: DurationUnit;
}) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState(() => durationOf(ms));
  const [isTyping, setTyping] = useState(false);
  // While it is typed, it may be empty, whatever the caller keeps.
  const isOwn = Object.is(msOf(typed), ms) || (isTyping && Number.isNaN(msOf(typed)));
  const shown = isOwn ? typed : durationOf(ms);
  const change = (some: Partial<typeof typed>) => {
    const next = { ...shown, ...some };
    setTyped(next);
    onChange(msOf(next));
  };
  return (
    <Group gap={8} wrap="nowrap" align="flex-start">
      <NumberInput
        size={size}
        {...(size === 'xs' ? { w: 64 } : { flex: 1 })}
        aria-label={label}
        error={error}
        hideControls
        clampBehavior="none"
        value={shown.amount}
        onChange={(amount) => change({ amount })}
        onFocus={() => {
          setTyped(shown);
          setTyping(true);
        }}
        onBlur={() => setTyping(false)}
      />
      <NativeSelect
        size={size}
        {...(size === 'sm' && { flex: 1 })}
        aria-label={t('unitOf', { what: label })}
        value={shown.unit}
        onChange={({ currentTarget }) => change({ unit: currentTarget.value as DurationUnit })}
        data={unitNames
          .slice(0, unitNames.indexOf(longest) + 1)
          .map((unit) => ({ value: unit, label: t(`unit.${unit}`) }))}
      />
    </Group>
  );
}

/** Every IANA time zone this browser knows, with the time it is there now. Empty when none is chosen. */
export function TimeZoneSelect({
  value,
  onChange,
  ...props
}: Omit<SelectProps, 'data' | 'value' | 'onChange'> & { value?: string; onChange?: (zone: string) => void }) {
  const { t, i18n } = useTranslation();
  const names = useMemo(() => zonesWith(value ?? ''), [value]);
  return (
    <Select
      nothingFoundMessage={t('timeZone.none')}
      data={names}
      value={value || null}
      onChange={(zone) => onChange?.(zone ?? '')}
      searchable
      clearButtonProps={{ 'aria-label': t('timeZone.clear') }}
      limit={30}
      maxDropdownHeight={280}
      filter={({ options, search }) => {
        const wanted = plain(search);
        return options.filter((option) => 'label' in option && plain(option.label).includes(wanted));
      }}
      renderOption={({ option }) => (
        <Group justify="space-between" gap="md" w="100%">
          <span>{option.label.replaceAll('_', ' ')}</span>
          <span className="muted">{timeIn(option.value, i18n.language)}</span>
        </Group>
      )}
      {...props}
    />
  );
}

const plain = (text: string) => text.toLowerCase().replaceAll(/[_/]/g, ' ').trim();

/** The server may know a zone by a name that this browser does not list. */
function zonesWith(chosen: string): string[] {
  const known = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC')];
  return chosen === '' || known.includes(chosen) ? known : [chosen, ...known];
}

let textsAt = 0;
/** A cache for one minute: creating formatters is slow, and the list of zones is drawn often. */
const texts = new Map<string, string>();

/** As in 21:47; nothing for a zone that this browser does not know. */
export function timeIn(timeZone: string, language: string, at = Date.now()): string {
  const minute = Math.floor(at / 60_000);
  if (minute !== textsAt) texts.clear();
  textsAt = minute;
  const name = `${language} ${timeZone}`;
  const text = texts.get(name) ?? written(timeZone, language, at);
  texts.set(name, text);
  return text;
}

function written(timeZone: string, language: string, at: number): string {
  try {
    return new Intl.DateTimeFormat(localeOf(language), {
      timeZone,
      hour: '2-digit',
      minute: '2-digit',
      timeZoneName: 'shortOffset',
    }).format(at);
  } catch {
    return '';
  }
}
