import { Input, SegmentedControl } from '@mantine/core';
import { useId } from 'react';

/** One of a few choices, under its label. */
export function SegmentedField<Value extends string>({
  options,
  ...props
}: {
  label: string;
  description?: string;
  value: Value;
  onChange: (value: Value) => void;
  options: readonly (readonly [value: Value, label: string])[];
  fullWidth?: boolean;
}) {
  const id = useId();
  const { label, description, fullWidth = true, value, onChange } = props;
  return (
    <Input.Wrapper id={id} label={label} description={description} labelElement="div">
      <SegmentedControl
        fullWidth={fullWidth}
        aria-labelledby={`${id}-label`}
        value={value}
        onChange={onChange}
        data={options.map(([each, text]) => ({ value: each, label: text }))}
      />
    </Input.Wrapper>
  );
}
