import { TextInput, type TextInputProps } from '@mantine/core';
import { useState } from 'react';
import { parseTime } from './wall-clock.ts';

type Props = Omit<TextInputProps, 'value' | 'onChange' | 'onBlur'> & {
  /** 08:00, or empty. */
  value?: string;
  onChange: (value: string) => void;
};

/**
 * A time of day on the 24-hour clock. A plain `time` field follows the browser's own language, not the page's. What cannot be
 * read is put back when the field is left.
 */
export function TimeField({ value = '', onChange, error, ...rest }: Props) {
  const [typed, setTyped] = useState<string>();
  const isWrong = typed !== undefined && parseTime(typed) === undefined;
  return (
    <TextInput
      {...rest}
      placeholder="00:00"
      maxLength={5}
      autoComplete="off"
      value={typed ?? value}
      error={isWrong || error}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        const time = parseTime(currentTarget.value);
        if (time !== undefined) onChange(time);
      }}
      onBlur={() => setTyped(undefined)}
    />
  );
}
