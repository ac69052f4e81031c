import searchIcon from 'virtual:icon/search';
import { Kbd, TextInput } from '@mantine/core';
import { useRef } from 'react';
import { useShortcuts } from '#web/dashboard/shell/shortcuts.ts';
import { Icon } from '../icon.tsx';
import styles from './filter-field.module.css';

/** Narrows the list below it while one types; `/` goes to it, the down arrow from it into the list, Esc empties it. */
export function FilterField({
  label,
  value,
  onChange,
  onEnterList,
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  onEnterList: () => void;
}) {
  const input = useRef<HTMLInputElement>(null);
  useShortcuts({ '/': () => input.current?.focus() });
  return (
    <TextInput
      ref={input}
      className={styles.field}
      type="search"
      aria-label={label}
      placeholder={label}
      value={value}
      leftSection={<Icon paths={searchIcon} />}
      rightSection={value === '' && <Kbd size="xs">/</Kbd>}
      rightSectionPointerEvents="none"
      onChange={(event) => onChange(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'ArrowDown') {
          event.preventDefault();
          onEnterList();
        }
        if (event.key === 'Escape') {
          event.preventDefault();
          onChange('');
          input.current?.blur();
        }
      }}
    />
  );
}
