import { Modal, type ModalProps } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useLayer } from './layer.ts';

/** A window in the middle, over everything, for as long as it is drawn. */
export function Dialog({ closeOnEscape = true, ...props }: Omit<ModalProps, 'opened'>) {
  const { t } = useTranslation();
  const isUppermost = useLayer();
  return (
    <Modal
      opened
      closeOnEscape={closeOnEscape && isUppermost}
      closeButtonProps={{ 'aria-label': t('close') }}
      {...props}
    />
  );
}
