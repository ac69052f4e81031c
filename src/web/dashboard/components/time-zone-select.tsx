import { Select } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { localeOf } from './formats.ts';
import styles from './time-zone-select.module.css';

/** Every IANA time zone this browser knows, with the time it is there now. */
export function TimeZoneSelect({
  value,
  onChange,
  label,
  description,
  placeholder,
  clearable = false,
  disabled = false,
}: {
  /** Empty when none is chosen. */
  value: string;
  onChange: (zone: string) => void;
  label: string;
  description?: string;
  placeholder?: string;
  clearable?: boolean;
  disabled?: boolean;
}) {
  const { t, i18n } = useTranslation();
  const names = useMemo(() => zonesWith(value), [value]);
  return (
    <Select
      label={label}
      description={description}
      placeholder={placeholder}
      nothingFoundMessage={t('timeZone.none')}
      data={names}
      value={value === '' ? null : value}
      onChange={(zone) => onChange(zone ?? '')}
      searchable
      clearable={clearable}
      clearButtonProps={{ 'aria-label': t('timeZone.clear') }}
      disabled={disabled}
      limit={60}
      maxDropdownHeight={280}
      filter={({ options, search }) => {
        const wanted = plain(search);
        return options.filter((option) => 'label' in option && plain(option.label).includes(wanted));
      }}
      renderOption={({ option }) => (
        <span className={styles.option}>
          <span>{option.label.replaceAll('_', ' ')}</span>
          <span className="muted">{timeIn(option.value, i18n.language)}</span>
        </span>
      )}
    />
  );
}

const plain = (text: string) => text.toLowerCase().replaceAll(/[_/]/g, ' ').trim();

/** The server may know a zone by a name this browser has no list entry for. */
function zonesWith(chosen: string): string[] {
  const known = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC')];
  return chosen === '' || known.includes(chosen) ? known : [chosen, ...known];
}

/** As in 21:47; nothing for a zone that this browser does not know. */
export function timeIn(timeZone: string, language: string, at = Date.now()): string {
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
