import type { Announcements, DndContextProps, UniqueIdentifier } from '@dnd-kit/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Rule } from '#contract/rule.ts';

/** What screen readers hear of dragging, in the reader's language. */
export function useDragWords(
  rules: readonly Rule[],
  total: number,
): NonNullable<DndContextProps['accessibility']> {
  const { t } = useTranslation('rules');
  return useMemo(() => {
    const told = (id: UniqueIdentifier | undefined) => {
      const place = rules.findIndex((rule) => rule.id === id);
      return { name: rules[place]?.name ?? '', number: place + 1, total };
    };
    const moved = (active: UniqueIdentifier, over: UniqueIdentifier | undefined) => ({
      ...told(over),
      name: told(active).name,
    });
    let hasMoved = false;
    const announcements: Announcements = {
      onDragStart: ({ active }) => {
        hasMoved = false;
        return t('lifted', told(active.id));
      },
      onDragOver: ({ active, over }) => {
        // It begins over its own place, which is no news.
        hasMoved ||= over !== null && over.id !== active.id;
        return over && hasMoved ? t('carriedTo', moved(active.id, over.id)) : undefined;
      },
      onDragEnd: ({ active, over }) => t('movedTo', moved(active.id, over?.id ?? active.id)),
      onDragCancel: ({ active }) => t('putBack', told(active.id)),
    };
    return { announcements, screenReaderInstructions: { draggable: t('dragInstructions') } };
  }, [rules, total, t]);
}
