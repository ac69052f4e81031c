import { Kbd, Switch } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { setSingleKeys, useSingleKeys } from '../components/keyboard.ts';
import { Dialog, SideDrawer } from '../components/layers.tsx';
import { Navigation } from './navigation.tsx';
import styles from './shell.module.css';

/** The navigation on a phone. */
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

const list = [
  ['/', 'keys.search'],
  ['g o', 'keys.goOverview'],
  ['g h', 'keys.goHistory'],
  ['g p', 'keys.goPanels'],
  ['g r', 'keys.goRules'],
  ['?', 'keys.help'],
  ['Esc', 'keys.close'],
] as const;

/** The keys that work on every page. */
export function KeysDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const isOn = useSingleKeys();
  return (
    <Dialog onClose={onClose} title={t('keysTitle')}>
      <dl className={styles.keys}>
        {list.map(([keys, text]) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <Kbd key={key}>{key}</Kbd>
              ))}
            </dt>
            <dd>{t(text)}</dd>
          </div>
        ))}
      </dl>
      <Switch
        mt="md"
        label={t('keys.on')}
        description={t('keys.onHint')}
        checked={isOn}
        onChange={({ currentTarget }) => setSingleKeys(currentTarget.checked)}
      />
    </Dialog>
  );
}
