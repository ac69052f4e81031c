import {
  type Announcements,
  closestCenter,
  DndContext,
  type DndContextProps,
  type DragEndEvent,
  DragOverlay,
  KeyboardSensor,
  PointerSensor,
  type UniqueIdentifier,
  useSensor,
  useSensors,
} from '@dnd-kit/core';
import { SortableContext, sortableKeyboardCoordinates } from '@dnd-kit/sortable';
import { defaultRangeExtractor, useVirtualizer, type VirtualItem } from '@tanstack/react-virtual';
import { type KeyboardEvent, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Rule } from '#contract/routing/rule.ts';
import type { RuleWords } from '#web/dashboard/rule-text/rule-sentence.ts';
import { RuleText, useNameWarnings } from '#web/dashboard/rule-text/rule-text.tsx';
import { type RuleActions, RuleRow } from './rule-row.tsx';
import styles from './rules.module.css';

const rowPx = 57;

interface RuleListProps {
  /** Those that are shown, in order. */
  readonly rules: readonly Rule[];
  /** By id: the number among all rules. */
  readonly numbers: ReadonlyMap<string, number>;
  readonly words: RuleWords;
  readonly now: number;
  /** All rules are shown, and the person may order them. */
  readonly canMove: boolean;
  readonly actions: RuleActions;
  move(id: string, place: number): void;
}

/** The rules in their order; only visible ones are drawn. Rows move by dragging, and by Alt with the arrow keys. */
export function RuleList({ rules, numbers, words, now, canMove, actions, move }: RuleListProps) {
  const { t } = useTranslation('rules');
  const warningsOf = useNameWarnings();
  const [announcement, setAnnouncement] = useState('');
  const [lifted, setLifted] = useState<string>();
  const { list, rows, virtualizer } = useRows(rules, lifted);
  const total = numbers.size;
  const sensors = useSensors(
    useSensor(PointerSensor, { activationConstraint: { distance: 4 } }),
    useSensor(KeyboardSensor, { coordinateGetter: sortableKeyboardCoordinates }),
  );
  const dragWords = useDragAnnouncements(rules, total);
  const drop = ({ active, over }: DragEndEvent) => {
    setLifted(undefined);
    const place = rules.findIndex(({ id }) => id === over?.id);
    if (place >= 0 && active.id !== over?.id) move(String(active.id), place);
  };
  const moveBy = (index: number, step: 1 | -1) => {
    const rule = rules[index];
    const place = index + step;
    if (!rule || place < 0 || place >= rules.length) return;
    move(rule.id, place);
    virtualizer.scrollToIndex(place, { align: 'auto' });
    setAnnouncement(t('movedTo', { name: rule.name, number: place + 1, total }));
  };
  const onKeyDown = useRowKeys({
    canMove: canMove && lifted === undefined,
    moveBy,
    focus: (index) => focusRow(list.current, index, virtualizer.scrollToIndex),
    remove: (index) => rules[index] && actions.remove(rules[index]),
  });
  const liftedRule = rules.find(({ id }) => id === lifted);
  return (
    <DndContext
      sensors={sensors}
      collisionDetection={closestCenter}
      modifiers={[({ transform }) => ({ ...transform, x: 0 })]}
      accessibility={dragWords}
      onDragStart={({ active }) => setLifted(String(active.id))}
      onDragEnd={drop}
      onDragCancel={() => setLifted(undefined)}
    >
      <SortableContext items={rules.map(({ id }) => id)} strategy={() => null}>
        <ol
          ref={list}
          className={styles.list}
          style={{ height: virtualizer.getTotalSize() }}
          aria-label={t('list')}
          onKeyDown={onKeyDown}
        >
          {rows.map(({ row, rule }) => (
            <RuleRow
              key={rule.id}
              rule={rule}
              number={numbers.get(rule.id) ?? row.index + 1}
              {...{ total, words, now, canMove, actions }}
              warnings={warningsOf(rule)}
              top={row.start - virtualizer.options.scrollMargin}
              index={row.index}
              measure={virtualizer.measureElement}
            />
          ))}
        </ol>
      </SortableContext>
      <DragOverlay>
        {liftedRule && (
          <div className={styles.overlay}>
            <span className={styles.number}>{numbers.get(liftedRule.id)}</span>
            <div className={styles.main}>
              <bdi className={styles.name}>{liftedRule.name}</bdi>
              <div className={styles.sentence}>
                <RuleText rule={liftedRule} words={words} />
              </div>
            </div>
          </div>
        )}
      </DragOverlay>
      <div role="status" className="hidden">
        {announcement}
      </div>
    </DndContext>
  );
}

/** The visible rows, and the one that is being moved. */
function useRows(rules: readonly Rule[], lifted: string | undefined) {
  const list = useRef<HTMLOListElement>(null);
  const [scrollMargin, setScrollMargin] = useState(0);
  useLayoutEffect(() => {
    const page = scroller();
    if (!list.current || !page) return;
    const top = list.current.getBoundingClientRect().top - page.getBoundingClientRect().top + page.scrollTop;
    setScrollMargin(Math.round(top));
  });
  const virtualizer = useVirtualizer({
    count: rules.length,
    getScrollElement: scroller,
    estimateSize: () => rowPx,
    getItemKey: (index) => rules[index]?.id ?? index,
    overscan: 6,
    scrollMargin,
    rangeExtractor: (range) => {
      const shown = defaultRangeExtractor(range);
      const kept = rules.findIndex(({ id }) => id === lifted);
      return kept < 0 || shown.includes(kept) ? shown : [...shown, kept].sort((a, b) => a - b);
    },
  });
  const rows = virtualizer.getVirtualItems().flatMap((row): { row: VirtualItem; rule: Rule }[] => {
    const rule = rules[row.index];
    return rule ? [{ row, rule }] : [];
  });
  return { list, rows, virtualizer };
}

const scroller = () => document.getElementById('page');

function useRowKeys({
  canMove,
  moveBy,
  focus,
  remove,
}: {
  canMove: boolean;
  moveBy: (index: number, step: 1 | -1) => void;
  focus: (index: number) => void;
  remove: (index: number) => void;
}) {
  return (event: KeyboardEvent<HTMLElement>) => {
    const target = event.target as HTMLElement;
    const index = Number(target.closest<HTMLElement>('[data-index]')?.dataset.index ?? Number.NaN);
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : undefined;
    if (Number.isNaN(index)) return;
    if (event.altKey && step !== undefined) {
      event.preventDefault();
      if (canMove) moveBy(index, step);
    } else if (target.matches('[data-rule-link]')) {
      if (step !== undefined) {
        event.preventDefault();
        focus(index + step);
      } else if (event.key === 'Delete') remove(index);
    }
  };
}

function focusRow(list: HTMLElement | null, index: number, scrollTo: (index: number) => void): void {
  const link = () => list?.querySelector<HTMLElement>(`[data-index="${index}"] [data-rule-link]`);
  if (link()) {
    link()?.focus();
    return;
  }
  scrollTo(index);
  requestAnimationFrame(() => requestAnimationFrame(() => link()?.focus()));
}

/** The announcements of dragging for screen readers. */
function useDragAnnouncements(
  rules: readonly Rule[],
  total: number,
): NonNullable<DndContextProps['accessibility']> {
  const { t } = useTranslation('rules');
  return useMemo(() => {
    const describe = (id: UniqueIdentifier | undefined) => {
      const place = rules.findIndex((rule) => rule.id === id);
      return { name: rules[place]?.name ?? '', number: place + 1, total };
    };
    const moved = (active: UniqueIdentifier, over: UniqueIdentifier | undefined) => ({
      ...describe(over),
      name: describe(active).name,
    });
    let hasMoved = false;
    const announcements: Announcements = {
      onDragStart: ({ active }) => {
        hasMoved = false;
        return t('lifted', describe(active.id));
      },
      onDragOver: ({ active, over }) => {
        // The first event is about its own place.
        hasMoved ||= over !== null && over.id !== active.id;
        return over && hasMoved ? t('carriedTo', moved(active.id, over.id)) : undefined;
      },
      onDragEnd: ({ active, over }) => t('movedTo', moved(active.id, over?.id ?? active.id)),
      onDragCancel: ({ active }) => t('putBack', describe(active.id)),
    };
    return { announcements, screenReaderInstructions: { draggable: t('dragInstructions') } };
  }, [rules, total, t]);
}
