/** What phones of a panel need: what to enter in the app, their tokens, and one more phone. */
import { Button, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Panel } from '#contract/panels/panel.ts';
import { tokensQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Ago, useFormats } from '#web/dashboard/formats/use-formats.tsx';
import { AddPhoneDialog } from './add-phone.tsx';
import styles from './panels.module.css';
import { AppField, appOf, PhoneAddress } from './phone-address.tsx';

export function PhoneAccess({ panel }: { panel: Panel }) {
  const { t } = useTranslation('panels');
  const { may } = useTenant();
  const [isConnecting, setConnecting] = useState(false);
  // Nobody knows the app of a phone that has never connected.
  const isUnknown = panel.version === null;
  const [chosen, setChosen] = useState(appOf(panel));
  return (
    <section className={styles.part} aria-labelledby="phone-access">
      <h3 id="phone-access">{t('phoneAccess')}</h3>
      <Stack gap="sm">
        {isUnknown && <AppField value={chosen} onChange={setChosen} />}
        <PhoneAddress app={isUnknown ? chosen : appOf(panel)} panel={panel} />
        {may('admin') && (
          <>
            <PhoneTokens panel={panel} />
            <Button className={styles.connect ?? ''} onClick={() => setConnecting(true)}>
              {t('connectPhone')}
            </Button>
          </>
        )}
      </Stack>
      {isConnecting && <AddPhoneDialog phone={panel} onClose={() => setConnecting(false)} />}
    </section>
  );
}

/** Those that are for this panel alone. Others with the scope `panel` may read it, too. */
function PhoneTokens({ panel }: { panel: Panel }) {
  const { t } = useTranslation('panels');
  const tenant = useTenant();
  const formats = useFormats();
  const { data: tokens } = useQuery(tokensQuery(tenant));
  const own = tokens?.filter(({ panelId, revokedAt }) => panelId === panel.id && revokedAt === null) ?? [];
  return (
    <div>
      <p className="muted">
        {t('phoneTokensHint')}{' '}
        <Link to="/t/$tenant/settings/tokens" params={{ tenant: tenant.name }} search={{}}>
          {t('phoneTokensAll')}
        </Link>
      </p>
      <ul className={styles.shown}>
        {own.map(({ id, name, createdAt, lastUsedAt }) => (
          <li key={id}>
            <Link to="/t/$tenant/settings/tokens" params={{ tenant: tenant.name }} search={{ id }}>
              <bdi>{name}</bdi>
            </Link>
            <span className={`${styles.when} muted`}>
              {/* Tokens of one panel may have the same name. */}
              {t('created')} {formats.dateTime(createdAt)}
              {' · '}
              {lastUsedAt === null ? (
                t('phoneTokenUnused')
              ) : (
                <>
                  {t('phoneTokenUsed')} <Ago at={lastUsedAt} />
                </>
              )}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
