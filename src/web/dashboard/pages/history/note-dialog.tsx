import { TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Dialog, DialogForm } from '#web/dashboard/components/layers.tsx';

/** Asks for a note that others read. */
export function NoteDialog({
  title,
  action,
  hint,
  before = '',
  isDisabled = false,
  isDangerous = false,
  children,
  onSubmit,
  onClose,
}: {
  title: string;
  action: string;
  /** Who reads the note; every panel, unless it says so. */
  hint?: string;
  /** The note until now. */
  before?: string;
  isDisabled?: boolean;
  isDangerous?: boolean;
  /** What stands above the note, which gets the focus unless one of these fields asks for it. */
  children?: ReactNode;
  onSubmit: (note: string) => void;
  onClose: () => void;
}) {
  const { t } = useTranslation('history');
  const [note, setNote] = useState(before);
  return (
    <Dialog onClose={onClose} title={title}>
      <DialogForm
        action={action}
        request={{ error: null, isPending: false }}
        isDisabled={isDisabled}
        isDangerous={isDangerous}
        onSubmit={() => onSubmit(note.trim())}
        onClose={onClose}
      >
        {children}
        <TextInput
          label={t('note')}
          description={hint ?? t('noteHint')}
          maxLength={500}
          value={note}
          onChange={({ currentTarget }) => setNote(currentTarget.value)}
          data-autofocus
        />
      </DialogForm>
    </Dialog>
  );
}
