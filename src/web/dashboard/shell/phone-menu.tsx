import { useTranslation } from 'react-i18next';
import { SideDrawer } from '../pieces/layers/side-drawer.tsx';
import { Navigation } from './navigation.tsx';
import styles from './shell.module.css';

/** The navigation where there is no room for it beside the page. */
export function PhoneMenu({ onClose, onKeys }: { onClose: () => void; onKeys: () => void }) {
  const { t } = useTranslation();
  return (
    <SideDrawer position="left" onClose={onClose} size={260} title={t('menu')}>
      <nav className={styles.inDrawer} aria-label={t('pages')}>
        <Navigation
          onChosen={onClose}
          onKeys={() => {
            onClose();
            onKeys();
          }}
        />
      </nav>
    </SideDrawer>
  );
}
