import { Drawer, type DrawerProps } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useLayer } from './layer.ts';

/** What comes in from the side over the page, for as long as it is drawn. Esc closes it when nothing stands above it. */
export function SideDrawer(props: Omit<DrawerProps, 'opened' | 'closeOnEscape'>) {
  const { t } = useTranslation();
  const isUppermost = useLayer();
  return (
    <Drawer
      opened
      closeOnEscape={isUppermost}
      position="right"
      size={520}
      overlayProps={{ backgroundOpacity: 0.25 }}
      closeButtonProps={{ 'aria-label': t('close') }}
      {...props}
    />
  );
}
