import { Kbd, Switch } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { setSingleKeys, usePageKeys, useSingleKeys } from '../components/keyboard.ts';
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

const everywhere = [
  ['/', 'keys.search'],
  ['g a', 'keys.goAlarms'],
  ['g o', 'keys.goOverview'],
  ['g h', 'keys.goHistory'],
  ['g p', 'keys.goPanels'],
  ['g r', 'keys.goRules'],
  ['?', 'keys.help'],
  ['Esc', 'keys.close'],
] as const;

/** The keys of the open page, and those that work on every page. */
export function KeysDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const isOn = useSingleKeys();
  const ofPage = usePageKeys();
  const others = everywhere.filter(([keys]) => !ofPage?.list.some(([own]) => own === keys));
  return (
    <Dialog onClose={onClose} title={t('keysTitle')} size={ofPage ? 'lg' : 'md'}>
      {ofPage && (
        <>
          <h3 className={styles.keysOf}>{ofPage.page}</h3>
          <Keys list={ofPage.list} />
          <h3 className={styles.keysOf}>{t('keys.everywhere')}</h3>
        </>
      )}
      <Keys list={others.map(([keys, text]) => [keys, t(text)])} />
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

function Keys({ list }: { list: readonly (readonly [keys: string, text: string])[] }) {
  return (
    <dl className={styles.keys}>
      {list.map(([keys, text]) => (
        <div key={keys}>
          <dt>
            {keys.split(' ').map((key) => (
              <Kbd key={key}>{key}</Kbd>
            ))}
          </dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  );
}
