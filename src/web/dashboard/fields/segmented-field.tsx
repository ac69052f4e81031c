import { Input, SegmentedControl } from '@mantine/core';
import { useId } from 'react';
import type { Field } from './field.ts';

/** One of a few choices, under its label. */
export function SegmentedField<Value extends string>({
  label,
  description,
  value,
  onChange,
  options,
  fullWidth = true,
}: Field<Value> & {
  label: string;
  description?: string;
  options: readonly (readonly [value: Value, label: string])[];
  fullWidth?: boolean;
}) {
  const id = useId();
  return (
    <Input.Wrapper id={id} label={label} description={description} labelElement="div">
      <SegmentedControl
        {...(fullWidth ? { fullWidth } : { display: 'flex', w: 'fit-content' })}
        aria-labelledby={`${id}-label`}
        value={value}
        onChange={onChange}
        data={options.map(([each, text]) => ({ value: each, label: text }))}
      />
    </Input.Wrapper>
  );
}
