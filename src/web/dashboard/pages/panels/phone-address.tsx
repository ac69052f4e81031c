/** What to enter in the app of a phone. */
import { Input } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Panel } from '#contract/panels/panel.ts';
import { useServerAddress } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Remark } from '#web/dashboard/components/notice.tsx';
import { SegmentedField } from '#web/dashboard/fields/choice-fields.tsx';
import { CopyField } from '#web/dashboard/fields/copy-field.tsx';

const apps = ['ntfy', 'gotify'] as const;
export type App = (typeof apps)[number];

/** The app that the phone was last connected with; ntfy before that. */
export const appOf = ({ version }: Pick<Panel, 'version'>): App =>
  version?.startsWith('gotify') ? 'gotify' : 'ntfy';

export function AppField({
  hint,
  value,
  onChange,
}: {
  hint?: string;
  value: App;
  onChange: (app: App) => void;
}) {
  const { t } = useTranslation('panels');
  return (
    <SegmentedField
      label={t('phoneApp')}
      {...(hint !== undefined && { description: hint })}
      value={value}
      onChange={onChange}
      options={apps.map((each) => [each, appNames[each]])}
    />
  );
}

const appNames: Readonly<Record<App, string>> = { ntfy: 'ntfy', gotify: 'Gotify' };

/** Server and topic, and with a token the user and the password. */
export function PhoneAddress({ app, panel, token }: { app: App; panel: Panel; token?: string }) {
  const { t } = useTranslation('panels');
  const server = useServerAddress(useTenant());
  const values = [
    ['phoneServer', `${server}/${app}`],
    ...(app === 'ntfy' ? [['phoneTopic', panel.topic] as const] : []),
    ...(token === undefined
      ? []
      : ([['phoneUser', 'phone'] as const, ['phonePassword', token] as const] as const)),
  ] as const;
  return values.map(([label, text]) => (
    <Input.Wrapper key={label} label={t(label)} labelElement="div">
      <CopyField text={text} label={t(label)} />
      {label === 'phoneServer' && server !== location.origin && (
        <Remark>{t('phoneServerDiffers', { address: location.origin })}</Remark>
      )}
    </Input.Wrapper>
  ));
}
