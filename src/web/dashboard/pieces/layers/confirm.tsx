import { Button, Group, Stack } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorNotice } from '../notice.tsx';
import styles from './confirm.module.css';
import { Dialog } from './dialog.tsx';

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
