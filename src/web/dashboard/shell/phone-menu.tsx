import { Drawer } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Navigation } from './navigation.tsx';
import styles from './shell.module.css';

/** The navigation where there is no room for it beside the page. */
export function PhoneMenu({ onClose, onKeys }: { onClose: () => void; onKeys: () => void }) {
  const { t } = useTranslation();
  return (
    <Drawer
      opened
      onClose={onClose}
      size={260}
      title={t('menu')}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      <nav className={styles.inDrawer} aria-label={t('pages')}>
        <Navigation
          onChosen={onClose}
          onKeys={() => {
            onClose();
            onKeys();
          }}
        />
      </nav>
    </Drawer>
  );
}
