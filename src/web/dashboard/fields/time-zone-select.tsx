import { Group, Select, type SelectProps } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { localeOf } from '../formats/formats.ts';

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
