/** The menus of the navigation, open for as long as they are drawn. */
import checkIcon from 'virtual:icon/check';
import plusIcon from 'virtual:icon/plus';
import { Menu, type MenuProps } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { personApi, sentenceOf } from '../api/call.ts';
import { sessionQuery, usePerson } from '../api/session.ts';
import { useTenant } from '../api/tenant.tsx';
import { Icon } from '../components/icon.tsx';
import { showFailure } from '../components/notice.tsx';
import { chooseLanguage, type Language, languages } from '../language.ts';
import { schemeChoices, setSchemeChoice, useSchemeChoice } from '../theme/theme.ts';
import styles from './shell.module.css';

/** Lies over its button, so that a click on the button closes it. */
function OpenMenu({
  label,
  children,
  ...props
}: Pick<MenuProps, 'position' | 'onClose'> & { label: string; children: ReactNode }) {
  return (
    <Menu opened width={230} checkIcon={<Icon paths={checkIcon} size={14} />} {...props}>
      <Menu.Target>
        <div className={styles.overButton} aria-hidden="true">
          <span className="hidden">{label}</span>
        </div>
      </Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  );
}

/** Switches to another tenant. */
export function TenantMenu({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const here = useTenant();
  const { data } = useSuspenseQuery(sessionQuery);
  const ownsSome = data.tenants.some(({ role }) => role === 'owner');
  return (
    <OpenMenu label={here.title} position="bottom-start" onClose={onClose}>
      <Menu.Label>{t('switchTenant')}</Menu.Label>
      {data.tenants.map(({ name, title }) => (
        <Menu.RadioItem
          key={name}
          value={name}
          closeMenuOnClick
          checked={name === here.name}
          onClick={() => void navigate({ to: '/t/$tenant/overview', params: { tenant: name } })}
        >
          {title}
        </Menu.RadioItem>
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
    </OpenMenu>
  );
}

/** Account, appearance, language, sign out. */
export function AccountMenu({ onKeys, onClose }: { onKeys: () => void; onClose: () => void }) {
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
  return (
    <OpenMenu label={person.name} position="top-start" onClose={onClose}>
      <Menu.Item onClick={() => void navigate({ to: '/account' })}>{t('yourAccount')}</Menu.Item>
      <Menu.Divider />
      <Menu.Label>{t('theme')}</Menu.Label>
      {schemeChoices.map((each) => (
        <Menu.RadioItem
          key={each}
          value={each}
          closeMenuOnClick={false}
          checked={each === scheme}
          onChange={() => setSchemeChoice(each)}
        >
          {t(`theme.${each}`)}
        </Menu.RadioItem>
      ))}
      <Menu.Divider />
      <Menu.Label>{t('language')}</Menu.Label>
      {(Object.keys(languages) as Language[]).map((each) => (
        <Menu.RadioItem
          key={each}
          value={each}
          lang={each}
          closeMenuOnClick
          checked={i18n.language === each}
          onChange={() => chooseLanguage(each)}
        >
          {languages[each]}
        </Menu.RadioItem>
      ))}
      <Menu.Divider />
      <Menu.Item onClick={onKeys}>{t('keysTitle')}</Menu.Item>
      <Menu.Item onClick={() => void signOut()}>{t('signOut')}</Menu.Item>
      <Menu.Label>{t('version', { version: data.version })}</Menu.Label>
    </OpenMenu>
  );
}
