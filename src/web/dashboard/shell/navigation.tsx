import checkIcon from 'virtual:icon/check';
import panelsIcon from 'virtual:icon/device-tv';
import historyIcon from 'virtual:icon/history';
import overviewIcon from 'virtual:icon/layout-dashboard';
import plusIcon from 'virtual:icon/plus';
import rulesIcon from 'virtual:icon/route';
import selectorIcon from 'virtual:icon/selector';
import userIcon from 'virtual:icon/user-circle';
import { Menu } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Role } from '#contract/token.ts';
import { personApi, sentenceOf } from '../api/call.ts';
import { sessionQuery, usePerson } from '../api/session.ts';
import { useTenant } from '../api/tenant.tsx';
import { Icon } from '../components/icon.tsx';
import { showFailure } from '../components/toast.tsx';
import { chooseLanguage, type Language, languages } from '../language.ts';
import { schemeChoices, setSchemeChoice, useSchemeChoice } from '../theme/scheme.ts';
import styles from './shell.module.css';

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

type PlaceAddress =
  | `/t/$tenant/${'overview' | 'history' | 'panels' | 'rules'}`
  | `/t/$tenant/settings/${'integrations' | 'tokens' | 'channels' | 'expectations' | 'levels' | 'members' | 'tenant' | 'audit'}`;

export interface Place {
  readonly name:
    | 'overview'
    | 'history'
    | 'panels'
    | 'rules'
    | 'integrations'
    | 'tokens'
    | 'channels'
    | 'expectations'
    | 'levels'
    | 'members'
    | 'tenant'
    | 'audit';
  readonly to: PlaceAddress;
  readonly icon?: readonly string[];
  /** The least role that may open it; none: everyone. */
  readonly role?: Role;
}

/** The pages of a tenant, as the navigation lists them. */
const places: readonly Place[] = [
  { name: 'overview', to: '/t/$tenant/overview', icon: overviewIcon },
  { name: 'history', to: '/t/$tenant/history', icon: historyIcon },
  { name: 'panels', to: '/t/$tenant/panels', icon: panelsIcon },
  { name: 'rules', to: '/t/$tenant/rules', icon: rulesIcon },
];

const settingsPlaces: readonly Place[] = [
  { name: 'integrations', to: '/t/$tenant/settings/integrations' },
  { name: 'tokens', to: '/t/$tenant/settings/tokens', role: 'admin' },
  { name: 'channels', to: '/t/$tenant/settings/channels' },
  { name: 'expectations', to: '/t/$tenant/settings/expectations' },
  { name: 'levels', to: '/t/$tenant/settings/levels' },
  { name: 'members', to: '/t/$tenant/settings/members' },
  { name: 'tenant', to: '/t/$tenant/settings/tenant' },
  { name: 'audit', to: '/t/$tenant/settings/audit', role: 'admin' },
];

/** Shows the tenant, and switches to another. */
export function TenantSwitcher() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const here = useTenant();
  const { data } = useSuspenseQuery(sessionQuery);
  const ownsSome = data.tenants.some(({ role }) => role === 'owner');
  return (
    <Menu position="bottom-start" width={230}>
      <Menu.Target>
        <button type="button" className={styles.tenant} title={here.title}>
          <span className={styles.initial} aria-hidden="true">
            {[...here.title][0]?.toUpperCase()}
          </span>
          <span className={styles.name}>{here.title}</span>
          <Icon paths={selectorIcon} size={16} />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t('switchTenant')}</Menu.Label>
        {data.tenants.map(({ name, title }) => (
          <Menu.Item
            key={name}
            rightSection={name === here.name ? <Icon paths={checkIcon} size={14} /> : undefined}
            onClick={() => void navigate({ to: '/t/$tenant/overview', params: { tenant: name } })}
          >
            {title}
          </Menu.Item>
        ))}
        {ownsSome && (
          <>
            <Menu.Divider />
            <Menu.Item
              leftSection={<Icon paths={plusIcon} size={14} />}
              onClick={() => void navigate({ to: '/new-tenant' })}
            >
              {t('newTenant')}
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

/** Account, appearance, language, sign out. */
function AccountMenu({ onKeys }: { onKeys: () => void }) {
  const { t, i18n } = useTranslation();
  const person = usePerson();
  const { data } = useSuspenseQuery(sessionQuery);
  const navigate = useNavigate();
  const scheme = useSchemeChoice();
  const signOut = async () => {
    try {
      await personApi.delete('/api/session');
    } catch (error) {
      // The person must know that they are still signed in.
      showFailure({ title: t('failed'), message: sentenceOf(error) });
      return;
    }
    // A full load drops all data from memory, and the next person does not land on this page.
    location.replace('/sign-in');
  };
  const chosen = (is: boolean) => (is ? <Icon paths={checkIcon} size={14} /> : undefined);
  return (
    <Menu position="top-start" width={230}>
      <Menu.Target>
        <button type="button" className={styles.account}>
          <Icon paths={userIcon} size={20} />
          <span className={styles.who}>
            <span>{person.name}</span>
            <span>{person.email}</span>
          </span>
          <Icon paths={selectorIcon} size={16} />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => void navigate({ to: '/account' })}>{t('yourAccount')}</Menu.Item>
        <Menu.Divider />
        <Menu.Label>{t('theme')}</Menu.Label>
        {schemeChoices.map((each) => (
          <Menu.Item
            key={each}
            closeMenuOnClick={false}
            rightSection={chosen(each === scheme)}
            onClick={() => setSchemeChoice(each)}
          >
            {t(`theme.${each}`)}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Label>{t('language')}</Menu.Label>
        {(Object.keys(languages) as Language[]).map((each) => (
          <Menu.Item
            key={each}
            lang={each}
            rightSection={chosen(i18n.language === each)}
            onClick={() => chooseLanguage(each)}
          >
            {languages[each]}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item onClick={onKeys}>{t('keysTitle')}</Menu.Item>
        <Menu.Item onClick={() => void signOut()}>{t('signOut')}</Menu.Item>
        <Menu.Label>{t('version', { version: data.version })}</Menu.Label>
      </Menu.Dropdown>
    </Menu>
  );
}
