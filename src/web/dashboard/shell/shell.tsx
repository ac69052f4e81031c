/** The layout of a tenant's pages: navigation at the side (behind a button on a phone), and the page. */
import menuIcon from 'virtual:icon/menu-2';
import unpluggedIcon from 'virtual:icon/plug-connected-x';
import { ActionIcon } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Outlet, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { retryStale, useStaleSince } from '../api/query-client.ts';
import { useTenant } from '../api/tenant.tsx';
import { Icon } from '../components/icon.tsx';
import { useShortcuts } from '../components/keyboard.ts';
import { LayerNotLoaded, lazyPart } from '../components/lazy-part.tsx';
import { useFormats } from '../formats/use-formats.tsx';
import { Navigation, type PlaceAddress, TenantSwitcher } from './navigation.tsx';
import styles from './shell.module.css';

// Dialogs are loaded when they are needed.
const PhoneMenu = lazyPart(async () => (await import('./shell-dialogs.tsx')).PhoneMenu, LayerNotLoaded);
const KeysDialog = lazyPart(async () => (await import('./shell-dialogs.tsx')).KeysDialog, LayerNotLoaded);

export function Shell() {
  const { t } = useTranslation();
  const [menuOpen, menu] = useDisclosure(false);
  const [keysOpen, setKeysOpen] = useState(false);
  const showKeys = () => setKeysOpen(true);
  useGoTo(showKeys);
  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#page">
        {t('skipToContent')}
      </a>
      <div className={styles.bar}>
        <ActionIcon onClick={menu.open} aria-label={t('menu')} aria-expanded={menuOpen}>
          <Icon paths={menuIcon} size={20} />
        </ActionIcon>
        <TenantSwitcher />
      </div>
      <nav className={styles.side} aria-label={t('pages')}>
        <Navigation onKeys={showKeys} />
      </nav>
      <main className={styles.main} id="page" tabIndex={-1}>
        <StaleBar />
        <Outlet />
      </main>
      {menuOpen && <PhoneMenu onClose={menu.close} onKeys={showKeys} />}
      {keysOpen && <KeysDialog onClose={() => setKeysOpen(false)} />}
    </div>
  );
}

function useGoTo(onHelp: () => void): void {
  const navigate = useNavigate();
  const { name: tenant } = useTenant();
  const go = (to: PlaceAddress) => () => void navigate({ to, params: { tenant } });
  useShortcuts(
    {
      '?': onHelp,
      '/': go('/t/$tenant/history'),
      'g a': go('/t/$tenant/alarms'),
      'g o': go('/t/$tenant/overview'),
      'g h': go('/t/$tenant/history'),
      'g p': go('/t/$tenant/panels'),
      'g r': go('/t/$tenant/rules'),
    },
    'frame',
  );
}

const retryMs = 5_000;
const dayMs = 86_400_000;

/** Says how old the page's data is when it cannot be refreshed, and retries. */
function StaleBar() {
  const { t } = useTranslation();
  const formats = useFormats();
  const since = useStaleSince();
  const isStale = since !== undefined;
  useEffect(() => {
    if (!isStale) return;
    const timer = setInterval(retryStale, retryMs);
    return () => clearInterval(timer);
  }, [isStale]);
  return (
    <div role="status">
      {isStale && (
        <div className={styles.stale}>
          <Icon paths={unpluggedIcon} size={18} />
          {t('stale', {
            time: Date.now() - since < dayMs / 2 ? formats.shortClock(since) : formats.dateTime(since),
          })}
        </div>
      )}
    </div>
  );
}
