import { NativeSelect, type NativeSelectProps } from '@mantine/core';
import { useLevels } from '../api/queries.ts';
import { useLevelLook } from '../components/level-mark.tsx';

/** One of the tenant's levels, by rank. @param props.emptyLabel The choice of none, where that is possible. */
export function LevelSelect({
  value = '',
  onChange,
  emptyLabel,
  ...props
}: Omit<NativeSelectProps, 'data' | 'value' | 'onChange'> & {
  value?: string;
  onChange: (level: string) => void;
  emptyLabel?: string;
}) {
  const lookOf = useLevelLook();
  const levels = [...useLevels().values()].sort((a, b) => a.rank - b.rank).map(({ name }) => name);
  const names = value === '' || levels.includes(value) ? levels : [value, ...levels];
  return (
    <NativeSelect
      {...props}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
      data={[
        ...(emptyLabel === undefined ? [] : [{ value: '', label: emptyLabel }]),
        ...names.map((name) => ({ value: name, label: lookOf(name).word })),
      ]}
    />
  );
}
