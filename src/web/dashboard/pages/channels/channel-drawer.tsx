import { Button, Input, NativeSelect, PasswordInput, Switch, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Channel, ChannelCreated, ChannelTest } from '#contract/channels/channel.ts';
import {
  answerSecretOf,
  answersPath,
  type ChannelField,
  channelFields,
  channelKinds,
} from '#contract/channels/channel-fields.ts';
import { channelDeliveriesQuery, channelPath, useServerAddress } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { SideDrawer } from '#web/dashboard/components/layers.tsx';
import { ErrorNotice, Remark } from '#web/dashboard/components/notice.tsx';
import { CopyField } from '#web/dashboard/fields/copy-field.tsx';
import {
  DeleteButton,
  EditFoot,
  useDrawerForm,
  useUnsavedQuestion,
} from '#web/dashboard/fields/edit-form.tsx';
import { changesOf } from '#web/dashboard/fields/form-values.ts';
import { Ago, NextAttempt, useFormats, useNow } from '#web/dashboard/formats/use-formats.tsx';
import { bodyOf, type ChannelValues, problemsOf, refusedField, valuesOf } from './channel-values.ts';
import styles from './channels.module.css';
import { PushDevices } from './push-devices.tsx';

interface DrawerProps {
  /** undefined: a new one. */
  readonly channel: Channel | undefined;
  readonly onCreated?: (id: string) => void;
  readonly onClose: () => void;
}

/** A signing key that the server generated: it is answered once. */
interface MadeKey {
  /** Of its channel. */
  readonly id: string;
  readonly key: string;
}

/** One channel: what it is set up with, a test, and what it delivered. */
export function ChannelDrawer(props: DrawerProps) {
  const { t } = useTranslation('channels');
  const { channel, onCreated, onClose } = props;
  const { may } = useTenant();
  const [made, setMade] = useState<MadeKey>();
  const { question, leave } = useUnsavedQuestion(made !== undefined, {
    title: t('signingKeyUnsaved'),
    about: t('signingKeyOnce'),
  });
  return (
    <SideDrawer
      onClose={onClose}
      title={channel ? <bdi>{channel.name}</bdi> : t('create')}
      // The key is gone when this closes: that must not happen by mistake.
      closeOnClickOutside={!made}
      closeOnEscape={!made}
      withCloseButton={!made}
    >
      {channel?.enabled && <Failing {...channel.state} />}
      {made && (
        <div className={styles.form}>
          <CopyField label={t('field.signingKey')} text={made.key} />
          <Remark>{t('signingKeyOnce')}</Remark>
          <Button
            variant="filled"
            onClick={() => (channel ? setMade(undefined) : leave(() => onCreated?.(made.id)))}
          >
            {t('signingKeySaved')}
          </Button>
        </div>
      )}
      {!made && may('admin') && <ChannelForm {...props} onKey={setMade} />}
      {channel?.kind === 'push' && <PushDevices channel={channel} />}
      {channel && <ChannelDeliveries channel={channel} />}
      {question}
    </SideDrawer>
  );
}

/** What does not work: sending, and getting answers. */
function Failing(state: Channel['state']) {
  const { t } = useTranslation('channels');
  const formats = useFormats();
  const now = useNow();
  const titleOf = (text: 'failingFor' | 'noAnswersFor', since: string) => {
    const ms = Math.max(1_000, now - Date.parse(since));
    const time = formats.duration(ms - (ms % (ms < 60_000 ? 1_000 : 60_000)));
    return <strong title={formats.dateTime(since)}>{t(text, { time })}</strong>;
  };
  return (
    <>
      {state.failingSince !== null && (
        <div className={styles.notice}>
          {titleOf('failingFor', state.failingSince)}
          <SendingProblem {...state} />
        </div>
      )}
      {state.answersFailingSince !== null && (
        <div className={styles.notice}>
          {titleOf('noAnswersFor', state.answersFailingSince)}
          <bdi>{state.answersError}</bdi>
        </div>
      )}
    </>
  );
}

function ChannelForm({
  channel,
  onKey,
  onCreated,
  onClose,
}: DrawerProps & { onKey: (made: MadeKey) => void }) {
  const { t } = useTranslation('channels');
  const tenant = useTenant();
  const client = useQueryClient();
  const edit = useDrawerForm<ChannelValues>({
    saved: valuesOf(channel),
    validate: (values) => problemsOf(values, channel, t('needed')),
    refusedField: (error, values) => refusedField(error, values, channel, t),
    async save(values, before) {
      const body = bodyOf(values);
      const saved: ChannelCreated = channel
        ? await tenant.api.patch<ChannelCreated>(channelPath(channel.id), changesOf(bodyOf(before), body))
        : await tenant.api.post<ChannelCreated>('/api/channels', { ...body, kind: values.kind });
      const listRead = client.invalidateQueries({ queryKey: [...tenant.key, 'channels'] });
      // A new one is opened from the list.
      if (!channel) await listRead;
      if (saved.signingKey !== undefined)
        edit.leave(() => onKey({ id: saved.id, key: saved.signingKey ?? '' }));
      else if (!channel) edit.leave(() => onCreated?.(saved.id));
    },
  });
  const { form } = edit;
  return (
    <form className={styles.form} onSubmit={edit.submit}>
      {!channel && (
        <NativeSelect
          label={t('kind')}
          data={channelKinds.map((kind) => ({ value: kind, label: t(`kind.${kind}`) }))}
          {...form.getInputProps('kind')}
        />
      )}
      <TextInput label={t('name')} maxLength={100} required {...form.getInputProps('name')} />
      {channelFields[form.values.kind].map((field) => (
        <FieldInput
          key={field.name}
          field={field}
          isSet={channel?.secrets.includes(field.name) === true}
          isRemoved={form.values.removed.includes(field.name)}
          onRemove={(isRemoved) => {
            const others = form.values.removed.filter((name) => name !== field.name);
            form.setFieldValue('removed', isRemoved ? [...others, field.name] : others);
            form.setFieldValue(`fields.${field.name}`, '');
          }}
          props={form.getInputProps(`fields.${field.name}`)}
        />
      ))}
      {channel && <AnswersAddress channel={channel} />}
      <Switch label={t('enabled')} {...form.getInputProps('enabled', { type: 'checkbox' })} />
      {channel && <TestButton channel={channel} isDisabled={edit.isDirty} />}
      <EditFoot edit={edit}>
        {channel ? (
          <DeleteButton
            path={channelPath(channel.id)}
            list={['channels']}
            title={t('deleteTitle', { name: channel.name })}
            action={t('deleteDo')}
            isGone={({ id }: Channel) => id === channel.id}
            onDeleted={() => edit.leave(onClose)}
          >
            {t('deleteAbout')}
          </DeleteButton>
        ) : (
          <span />
        )}
      </EditFoot>
    </form>
  );
}

/** What the other system must know, once its secret is set. */
function AnswersAddress({ channel: { id, kind, secrets } }: { channel: Channel }) {
  const { t } = useTranslation('channels');
  const tenant = useTenant();
  const server = useServerAddress(tenant);
  const secret = answerSecretOf(kind);
  if (secret === undefined || !secrets.includes(secret)) return null;
  return (
    <Input.Wrapper label={t('answersAddress')} description={t('answersAbout')} labelElement="div">
      <CopyField label={t('answersAddress')} text={`${server}${answersPath(tenant.name, id)}`} />
    </Input.Wrapper>
  );
}

function FieldInput({
  field,
  isSet,
  isRemoved,
  onRemove,
  props,
}: {
  field: ChannelField;
  isSet: boolean;
  isRemoved: boolean;
  onRemove: (isRemoved: boolean) => void;
  props: { readonly value?: string };
}) {
  const { t } = useTranslation('channels');
  const { name, isSecret, isRequired, example, type, choices } = field;
  const isSigningKey = type === 'signing-key';
  const label = t(`field.${name}` as 'field.url');
  const common = {
    label,
    required: isRequired === true && !isSet,
    placeholder: isSet ? t('keepsValue') : (example ?? ''),
    ...props,
  };
  if (choices)
    return (
      <NativeSelect
        {...common}
        data={choices.map((choice, at) => ({
          // The first one holds when nothing is set; it may be set all the same.
          value: at === 0 && props.value !== choice ? '' : choice,
          label: t(`choice.${name}.${choice}` as 'choice.qos.1'),
        }))}
      />
    );
  if (!isSecret) return <TextInput {...common} />;
  const input = (
    <PasswordInput
      {...common}
      {...(isRemoved && { placeholder: t(isSigningKey ? 'signingKeyRenewed' : 'removed'), disabled: true })}
      autoComplete="off"
      description={
        !isSet && (isSigningKey ? t('signingKeyHint') : type === 'incoming-secret' && t('incomingHint'))
      }
    />
  );
  if (!isSet || isRequired) return input;
  const action = isRemoved ? 'keep' : isSigningKey ? 'renewSigningKey' : 'remove';
  return (
    <div className={styles.secret}>
      {input}
      <Button size="xs" aria-label={`${t(action)}: ${label}`} onClick={() => onRemove(!isRemoved)}>
        {t(action)}
      </Button>
    </div>
  );
}

function TestButton({ channel, isDisabled }: { channel: Channel; isDisabled: boolean }) {
  const { t } = useTranslation('channels');
  const { api } = useTenant();
  const formats = useFormats();
  const test = useMutation({
    mutationFn: () => api.post<ChannelTest>(`${channelPath(channel.id)}/test`, {}),
  });
  return (
    <div>
      <Button disabled={isDisabled} loading={test.isPending} onClick={() => test.mutate()}>
        {t('test')}
      </Button>
      <div role="status" className={styles.log}>
        {test.data && (
          <span>
            {test.data.ok
              ? t('testOk', { time: formats.duration(test.data.tookMs) })
              : `${t('testFailed')}: `}
            <TestAnswer {...test.data} />
          </span>
        )}
      </div>
      {test.error && <ErrorNotice error={test.error} title={t('testFailed')} />}
    </div>
  );
}

/** "(200 ok)" or "the receiver answered 500", from the server's "answered 200: ok". */
function TestAnswer({ ok, answer }: ChannelTest) {
  const { t } = useTranslation('channels');
  const [, status, text = ''] = /^answered (\S+?)(?::? (.*))?$/.exec(answer) ?? [];
  const shown = <bdi>{status === undefined ? answer : `${status} ${text}`.trim()}</bdi>;
  if (ok) return <> ({shown})</>;
  return status === undefined ? (
    shown
  ) : (
    <>
      {t('testAnswered')} {shown}
    </>
  );
}

/** What a channel delivered, and what waits. */
function ChannelDeliveries({ channel }: { channel: Channel }) {
  const { t } = useTranslation('channels');
  const { data, error, refetch } = useQuery(channelDeliveriesQuery(useTenant(), channel.id));
  return (
    <section className={styles.deliveries} aria-label={t('log')}>
      <h3>{t('log')}</h3>
      {error && !data && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {data?.deliveries.length === 0 && <p className="muted">{t('logEmpty')}</p>}
      <ul className={styles.log}>
        {data?.deliveries.map((each) => (
          <li key={`${each.notification} ${each.event} ${each.queuedAt}`}>
            <strong>
              <bdi>{each.title ?? t('logGone')}</bdi>
            </strong>{' '}
            {each.event !== null && `${t(`event.${each.event}`)} · `}
            {t(`delivery.${each.state}`)} · <Ago at={each.finishedAt ?? each.queuedAt} />
            {each.answer !== null && (
              <>
                {' · '}
                <bdi className="muted">{each.answer}</bdi>
              </>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Why a channel fails, for a list; nothing for one that works. */
export function ChannelProblem({
  channel: { enabled, state },
  className,
}: {
  channel: Channel;
  className?: string | undefined;
}) {
  if (!enabled) return null;
  return (
    <>
      {state.failingSince !== null && <SendingProblem {...state} className={className} />}
      {state.answersError !== null && (
        <p className={className}>
          <bdi>{state.answersError}</bdi>
        </p>
      )}
    </>
  );
}

/** Why sending fails (only admins learn that), and when it is tried again. */
function SendingProblem({
  lastError,
  pending,
  retryAt,
  className,
}: Channel['state'] & { className?: string | undefined }) {
  return (
    <p className={className}>
      {lastError !== null && <bdi>{lastError}</bdi>}
      {lastError !== null && pending > 0 && ' · '}
      {pending > 0 && <NextAttempt retryAt={retryAt} />}
    </p>
  );
}
