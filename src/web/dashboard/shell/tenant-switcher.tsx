import checkIcon from 'virtual:icon/check';
import plusIcon from 'virtual:icon/plus';
import selectorIcon from 'virtual:icon/selector';
import { Menu } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { sessionQuery } from '../api/session.ts';
import { useTenant } from '../api/tenant.tsx';
import { Icon } from '../pieces/icon.tsx';
import styles from './shell.module.css';

/** Which tenant this is, and the way to another. */
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
