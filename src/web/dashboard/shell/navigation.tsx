import alarmsIcon from 'virtual:icon/bell';
import panelsIcon from 'virtual:icon/device-tv';
import historyIcon from 'virtual:icon/history';
import overviewIcon from 'virtual:icon/layout-dashboard';
import rulesIcon from 'virtual:icon/route';
import selectorIcon from 'virtual:icon/selector';
import userIcon from 'virtual:icon/user-circle';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { urgentCountQuery } from '../api/alarms.ts';
import { usePerson } from '../api/session.ts';
import { useTenant } from '../api/tenant.tsx';
import { Icon } from '../components/icon.tsx';
import { LayerNotLoaded, lazyPart } from '../components/lazy-part.tsx';
import { useFormats } from '../formats/use-formats.tsx';
import styles from './shell.module.css';

// Most visits need no menu.
const TenantMenu = lazyPart(async () => (await import('./menus.tsx')).TenantMenu, LayerNotLoaded);
const AccountMenu = lazyPart(async () => (await import('./menus.tsx')).AccountMenu, LayerNotLoaded);

/** The navigation: tenant, pages, person. */
export function Navigation({ onChosen, onKeys }: { onChosen?: () => void; onKeys: () => void }) {
  const { t } = useTranslation();
  const { may } = useTenant();
  return (
    <>
      <TenantSwitcher />
      {places.map((place) => (
        <PlaceLink key={place.name} place={place} onChosen={onChosen} />
      ))}
      <h2 className={styles.group}>{t('settings')}</h2>
      {settingsPlaces
        .filter((place) => !('role' in place) || may(place.role))
        .map((place) => (
          <PlaceLink key={place.name} place={place} onChosen={onChosen} />
        ))}
      <div className={styles.foot}>
        <AccountButton onKeys={onKeys} />
      </div>
    </>
  );
}

function PlaceLink({ place, onChosen }: { place: Place; onChosen: (() => void) | undefined }) {
  const { t } = useTranslation();
  const tenant = useTenant();
  return (
    <Link
      to={place.to}
      params={{ tenant: tenant.name }}
      className={styles.place}
      onClick={onChosen}
      activeProps={{ className: styles.here ?? '', 'aria-current': 'page' }}
    >
      {'icon' in place && <Icon paths={place.icon} size={18} />}
      {t(place.name)}
      {place.name === 'alarms' && <UrgentCount />}
    </Link>
  );
}

/** How many open alarms are errors or worse. */
function UrgentCount() {
  const { t } = useTranslation();
  const formats = useFormats();
  const { data: count = 0 } = useQuery(urgentCountQuery(useTenant()));
  if (count === 0) return null;
  return (
    <span className={styles.badge} title={t('urgentAlarms', { count })}>
      {formats.number(count)} <span className="hidden">{t('urgentAlarms', { count })}</span>
    </span>
  );
}

/** The pages of a tenant, as the navigation lists them. */
const places = [
  { name: 'alarms', to: '/t/$tenant/alarms', icon: alarmsIcon },
  { name: 'overview', to: '/t/$tenant/overview', icon: overviewIcon },
  { name: 'history', to: '/t/$tenant/history', icon: historyIcon },
  { name: 'panels', to: '/t/$tenant/panels', icon: panelsIcon },
  { name: 'rules', to: '/t/$tenant/rules', icon: rulesIcon },
] as const;

/** `role`: the least role that may open it; none: everyone. */
const settingsPlaces = [
  { name: 'integrations', to: '/t/$tenant/settings/integrations' },
  { name: 'tokens', to: '/t/$tenant/settings/tokens', role: 'admin' },
  { name: 'channels', to: '/t/$tenant/settings/channels' },
  { name: 'onCall', to: '/t/$tenant/settings/on-call' },
  { name: 'expectations', to: '/t/$tenant/settings/expectations' },
  { name: 'levels', to: '/t/$tenant/settings/levels' },
  { name: 'members', to: '/t/$tenant/settings/members' },
  { name: 'tenant', to: '/t/$tenant/settings/tenant' },
  { name: 'audit', to: '/t/$tenant/settings/audit', role: 'admin' },
] as const;

type Place = (typeof places | typeof settingsPlaces)[number];
export type PlaceAddress = Place['to'];

/** Shows the tenant, and opens the menu to switch to another. */
export function TenantSwitcher() {
  const { title } = useTenant();
  return (
    <MenuButton
      className={styles.tenant}
      title={title}
      menu={(onClose) => <TenantMenu onClose={onClose} />}
      onIntent={TenantMenu.preload}
    >
      <span className={styles.initial} aria-hidden="true">
        {[...title][0]?.toUpperCase()}
      </span>
      <span className={styles.name}>{title}</span>
    </MenuButton>
  );
}

function AccountButton({ onKeys }: { onKeys: () => void }) {
  const person = usePerson();
  return (
    <MenuButton
      className={styles.account}
      menu={(onClose) => <AccountMenu onKeys={onKeys} onClose={onClose} />}
      onIntent={AccountMenu.preload}
    >
      <Icon paths={userIcon} size={20} />
      <span className={styles.who}>
        <span>{person.name}</span>
        <span>{person.email}</span>
      </span>
    </MenuButton>
  );
}

/** Opens a menu that is loaded when somebody is about to open it. */
function MenuButton({
  menu,
  onIntent,
  children,
  ...props
}: {
  className: string | undefined;
  title?: string;
  menu: (onClose: () => void) => ReactNode;
  onIntent: () => void;
  children: ReactNode;
}) {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const close = () => {
    setOpen(false);
    button.current?.focus({ preventScroll: true });
  };
  return (
    <div className={styles.menuButton}>
      <button
        {...props}
        ref={button}
        type="button"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onPointerEnter={onIntent}
        onFocus={onIntent}
        onClick={() => (isOpen ? close() : setOpen(true))}
      >
        {children}
        <Icon paths={selectorIcon} size={16} />
      </button>
      {isOpen && menu(close)}
    </div>
  );
}
