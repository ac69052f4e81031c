import docsIcon from 'virtual:icon/book';
import { useTranslation } from 'react-i18next';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { SideDrawer } from '#web/dashboard/components/layers.tsx';
import { CopyField } from '#web/dashboard/fields/copy-field.tsx';
import { SigningSecret } from '../tokens/signing-secret.tsx';
import { addressWithToken, type SenderFormat } from './formats.ts';
import styles from './integrations.module.css';
import { type CreatedTokens, useTokenChoice } from './token-choice.tsx';

/** How one sender is set up: its token, its address, and what is entered where. */
export function FormatDrawer({
  format,
  created,
  onClose,
}: {
  format: SenderFormat;
  created: CreatedTokens;
  onClose: () => void;
}) {
  const { t } = useTranslation('integrations');
  const { name, title, path, isSigned, isAddressOnly, examples } = format;
  const isTokenShown = !isSigned && (isAddressOnly || examples !== undefined);
  const token = useTokenChoice(name, created, isTokenShown);
  const sender = { origin: location.origin, token: token.text };
  const url = sender.origin + path;
  const address = isSigned
    ? `${url}/${token.id ?? t('tokenId')}`
    : isAddressOnly
      ? addressWithToken(sender, url)
      : url;
  return (
    <SideDrawer onClose={onClose} size={700} title={title}>
      <div className={styles.setup}>
        {token.choice}
        <p>{t(`where.${name}`)}</p>
        <Labelled label={t(isSigned ? 'payloadUrl' : 'address')} text={address} />
        {isSigned && token.id !== undefined && (
          <div className={styles.labelled}>
            <h3>{t('signingSecret')}</h3>
            <SigningSecret key={token.id} tokenId={token.id} />
          </div>
        )}
        {examples?.(sender, url).map(({ label, text }) => (
          <Labelled key={label} label={label} text={text} />
        ))}
        <DocsLink section={format.section} />
      </div>
    </SideDrawer>
  );
}

export function Labelled({ label, text }: { label: string; text: string }) {
  return (
    <div className={styles.labelled}>
      <h3>{label}</h3>
      <CopyField label={label} text={text} />
    </div>
  );
}

export function DocsLink({ section }: { section: string }) {
  const { t } = useTranslation('integrations');
  return (
    <a className={styles.docs} href={`/docs/integrations#${section}`} target="_blank" rel="noopener">
      <Icon paths={docsIcon} />
      {t('docs')}
    </a>
  );
}
