import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Panel } from '../../../../../contract/panel.ts';
import { Dialog } from '../../../pieces/layers/dialog.tsx';
import { PairForm } from './pair-form.tsx';
import { PairedPanel } from './paired-panel.tsx';

/** Lets in the screen that shows a code, and stays until it has come. */
export function PairDialog({
  panels,
  code,
  onClose,
  onSetUp,
}: {
  panels: readonly Panel[];
  /** From a QR code; empty when one is to type it. */
  code: string;
  onClose: () => void;
  /** Opens the panel's settings. */
  onSetUp: (id: string) => void;
}) {
  const { t } = useTranslation('panels');
  const [paired, setPaired] = useState<Panel>();
  return (
    <Dialog onClose={onClose} title={t('approve')} size={460}>
      {paired ? (
        <PairedPanel panel={paired} onClose={onClose} onSetUp={() => onSetUp(paired.id)} />
      ) : (
        <PairForm panels={panels} code={code} onPaired={setPaired} onClose={onClose} />
      )}
    </Dialog>
  );
}
