import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useTenant } from '../api/tenant.tsx';
import { Icon } from '../pieces/icon.tsx';
import { AccountMenu } from './account-menu.tsx';
import { type Place, places, settingsPlaces } from './places.ts';
import styles from './shell.module.css';
import { TenantSwitcher } from './tenant-switcher.tsx';

/** Tenant, pages, person: what stands at the side, or in a phone's menu. */
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
        .filter(({ role }) => role === undefined || may(role))
        .map((place) => (
          <PlaceLink key={place.name} place={place} onChosen={onChosen} />
        ))}
      <div className={styles.foot}>
        <AccountMenu onKeys={onKeys} />
      </div>
    </>
  );
}

function PlaceLink({
  place: { name, to, icon },
  onChosen,
}: {
  place: Place;
  onChosen: (() => void) | undefined;
}) {
  const { t } = useTranslation();
  const tenant = useTenant();
  return (
    <Link
      to={to}
      params={{ tenant: tenant.name }}
      className={styles.place}
      onClick={onChosen}
      activeProps={{ className: styles.here ?? '', 'aria-current': 'page' }}
    >
      {icon && <Icon paths={icon} size={18} />}
      {t(name)}
    </Link>
  );
}
