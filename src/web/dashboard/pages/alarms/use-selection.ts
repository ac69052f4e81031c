import { useEffect, useMemo, useState } from 'react';
import type { AlarmList, AlarmRow } from '#web/dashboard/api/alarm-list.ts';
import { type ListLine, rowsBetween, rowsOf } from './alarm-groups.ts';

export interface Selection {
  /** The keys of the selected rows. */
  readonly keys: ReadonlySet<string>;
  /** All that match the search are selected, loaded or not. */
  readonly isAll: boolean;
  readonly rows: readonly AlarmRow[];
  /** Selects the alarms of a line, or ends that; `range`: all from the line that was selected last. */
  toggle(line: ListLine, range?: boolean): void;
  selectLoaded(): void;
  selectAll(): void;
  end(): void;
}

const none: ReadonlySet<string> = new Set();

/** The selected rows of a list, which stay in it until the selection ends. */
export function useSelection(list: AlarmList, lines: readonly ListLine[]): Selection {
  const [keys, setKeys] = useState(none);
  const [isAll, setAll] = useState(false);
  const [anchor, setAnchor] = useState<string>();
  useEffect(() => list.select(keys), [list, keys]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another list has other rows
  useEffect(() => end(), [list]);
  const change = (next: ReadonlySet<string>, all = false) => {
    setKeys(next);
    setAll(all);
  };
  const end = () => change(none);
  const { rows } = list;
  return {
    keys,
    isAll,
    rows: useMemo(() => (keys.size === 0 ? [] : rows.filter(({ key }) => keys.has(key))), [rows, keys]),
    toggle(line, range = false) {
      const at = (key: string | undefined) => lines.findIndex((each) => each.key === key);
      const from = at(anchor);
      if (range && from >= 0) {
        change(new Set([...keys, ...rowsBetween(lines, from, at(line.key)).map(({ key }) => key)]));
        return;
      }
      setAnchor(line.key);
      const meant = rowsOf(line).map(({ key }) => key);
      const next = new Set(keys);
      const isSelected = meant.every((key) => keys.has(key));
      for (const key of meant) {
        if (isSelected) next.delete(key);
        else next.add(key);
      }
      change(next);
    },
    selectLoaded: () => change(new Set(rows.map(({ key }) => key))),
    selectAll: () => change(new Set(rows.map(({ key }) => key)), true),
    end,
  };
}
