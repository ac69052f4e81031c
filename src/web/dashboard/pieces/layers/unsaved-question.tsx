import { type ShouldBlockFn, useBlocker } from '@tanstack/react-router';
import { type ReactNode, useCallback, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { Confirm } from './confirm.tsx';

export interface UnsavedQuestion {
  /** What is asked now, to be drawn; undefined while nothing is. */
  readonly question: ReactNode;
  /** Goes without being asked: what was written is saved, or gone with what it was about. */
  leave(go: () => void): void;
}

/**
 * For what is open by the `id` of the address. Every way out asks first while something is not saved: a click beside, Esc,
 * the way back, another page.
 */
export function useUnsavedQuestion(isUnsaved: boolean): UnsavedQuestion {
  const { t } = useTranslation();
  const isLeaving = useRef(false);
  const unsaved = useRef(isUnsaved);
  unsaved.current = isUnsaved;
  // One for as long as it is open, that looks when it is asked: who leaves at the moment of a change is asked too.
  const isKept = useCallback(() => unsaved.current && !isLeaving.current, []);
  const shouldBlockFn = useCallback<ShouldBlockFn>(
    ({ current, next }) => {
      const here = current.pathname === next.pathname && idOf(current.search) === idOf(next.search);
      return !here && isKept();
    },
    [isKept],
  );
  const blocker = useBlocker({ shouldBlockFn, enableBeforeUnload: isKept, withResolver: true });
  const question = blocker.status === 'blocked' && (
    <Confirm
      title={t('unsaved')}
      action={t('discard')}
      onConfirm={async () => blocker.proceed()}
      onClose={blocker.reset}
    >
      {t('unsavedAbout')}
    </Confirm>
  );
  return {
    question: question || undefined,
    leave: (go) => {
      isLeaving.current = true;
      go();
    },
  };
}

const idOf = (search: object) => ('id' in search ? search.id : undefined);
