import { Button, Group, Stack } from '@mantine/core';
import { type ShouldBlockFn, useBlocker } from '@tanstack/react-router';
import { type ReactNode, useCallback, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import styles from './layers.module.css';
import { Dialog } from './layers.tsx';
import { ErrorNotice } from './notice.tsx';

/** Asks once more before what cannot be undone, and says what will happen. */
export function Confirm({
  title,
  children,
  action,
  onConfirm,
  onClose,
}: {
  title: string;
  children: ReactNode;
  /** The button's word: what it does, never "OK". */
  action: string;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const confirm = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await onConfirm();
      onClose();
    } catch (reason) {
      setError(reason);
      setBusy(false);
    }
  };
  return (
    <Dialog onClose={onClose} title={title}>
      <Stack gap="md">
        <div>{children}</div>
        {error !== undefined && <ErrorNotice error={error} title={t('failed')} />}
        <Group justify="flex-end" gap="xs">
          <Button onClick={onClose} data-autofocus>
            {t('cancel')}
          </Button>
          <Button variant="filled" color="error" loading={busy} onClick={() => void confirm()}>
            {action}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

/** What follows, an <li> each. */
export function Consequences({ children }: { children: ReactNode }) {
  return <ul className={styles.consequences}>{children}</ul>;
}

interface UnsavedQuestion {
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
