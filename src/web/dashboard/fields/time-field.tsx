import { TextInput, type TextInputProps } from '@mantine/core';
import { useState } from 'react';
import { parseTime } from '../formats/wall-clock.ts';

type Props = Omit<TextInputProps, 'value' | 'onChange' | 'onKeyDown' | 'onBlur'> & {
  /** 08:00, or empty. */
  value?: string;
  onChange: (value: string) => void;
};

/**
 * A time of day on the 24-hour clock. A plain `time` field follows the browser's own language, not the page's. While the text
 * cannot be read, the value is the one from before, which the field shows again when it is left.
 */
export function TimeField({ value = '', onChange, error, ...rest }: Props) {
  const [draft, setDraft] = useState<{ readonly text: string; readonly before: string }>();
  const isWrong = draft !== undefined && parseTime(draft.text) === undefined;
  return (
    <TextInput
      {...rest}
      inputMode="numeric"
      placeholder="00:00"
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
