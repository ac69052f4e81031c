import { useTranslation } from 'react-i18next';
import type { Key } from '#contract/token.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { DrawerFoot, SideDrawer } from '#web/dashboard/pieces/layers/side-drawer.tsx';
import { CredentialFacts } from './credential-facts.tsx';
import { RevokeButton } from './revoke-button.tsx';
import styles from './tokens.module.css';

/** One automation key: how it stands, and its end. A key is not changed; a new one is made. */
export function KeyDrawer({ credential, onClose }: { credential: Key; onClose: () => void }) {
  const { t } = useTranslation('tokens');
  const { may } = useTenant();
  const { role, allowFrom, revokedAt } = credential;
  return (
    <SideDrawer
      onClose={onClose}
      title={<bdi>{credential.name}</bdi>}
      overlayProps={{ backgroundOpacity: 0.25 }}
    >
      <CredentialFacts
        credential={credential}
        prefix="bfk"
        more={[
          [t('role'), `${t(`role.${role}`, { ns: 'shell' })}: ${t(`keyRole.${role}`)}`],
          [
            t('allow'),
            allowFrom.length === 0 ? (
              t('anywhere')
            ) : (
              <span key="allow" className="mono">
                {allowFrom.join(', ')}
              </span>
            ),
          ],
        ]}
      />
      <p className={styles.ended}>{t(revokedAt === null ? 'keyUnchanged' : 'endedHint')}</p>
      {revokedAt === null && may(role) && (
        <DrawerFoot>
          <RevokeButton
            credential={credential}
            path="/api/keys"
            kind="key"
            panel={undefined}
            onRevoked={onClose}
          />
        </DrawerFoot>
      )}
    </SideDrawer>
  );
}
