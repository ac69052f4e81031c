import { Button, Tabs } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ReplayResponse } from '#contract/routing.ts';
import type { Rule } from '#contract/rule.ts';
import { sentenceOf } from '#web/dashboard/api/call.ts';
import { Confirm, useUnsavedQuestion } from '#web/dashboard/components/confirm.tsx';
import { useFormats } from '#web/dashboard/components/formats.ts';
import { SideDrawer } from '#web/dashboard/components/layers.tsx';
import { RuleText, useRuleWords } from '#web/dashboard/components/rule-text.tsx';
import { ExplainPanel } from './explain-panel.tsx';
import { JsonPanel } from './json-panel.tsx';
import { ReplayPanel, useReplay } from './replay-panel.tsx';
import { PlaceField, RuleForm } from './rule-form.tsx';
import sheet from './sheet.module.css';
import styles from './sheet.module.css';
import { type Opening, useRuleDraft } from './use-rule-draft.ts';
import { checkDays, type Save, type SaveWarning, useSave } from './use-save.ts';

/** A rule to be written: its sentence above, the form, and beside it what it would do. */
export function RuleSheet({
  rules,
  version,
  opening,
  explain,
  onClose,
  onDelete,
}: {
  rules: readonly Rule[];
  version: string;
  opening: Opening;
  /** The id of the notification to explain. */
  explain: string | undefined;
  onClose: () => void;
  onDelete: ((rule: Rule) => void) | undefined;
}) {
  const { t } = useTranslation('rules');
  const words = useRuleWords();
  const draft = useRuleDraft(rules, opening, { words, version, explain });
  const replay = useReplay();
  const opened = 'rule' in opening ? opening.rule : undefined;
  const { question, leave } = useUnsavedQuestion(draft.isChanged);
  const save = useSave(draft, replay, () => leave(onClose));
  const number = rules.findIndex(({ id }) => id === draft.id) + 1;
  return (
    <Sheet
      isWide
      title={draft.isNew ? t('newRule') : t('ruleNumber', { number })}
      onClose={onClose}
      head={<RuleText rule={draft.rule} words={words} />}
      foot={
        <Foot
          save={save}
          trouble={draft.otherProblem}
          onClose={onClose}
          opened={opened}
          onDelete={onDelete}
        />
      }
    >
      <div className={sheet.columns}>
        <form
          className={sheet.left}
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            void save.check();
          }}
          id="rule-form"
        >
          <RuleForm
            draft={draft.draft}
            onChange={draft.set}
            suggestion={draft.suggestion}
            faults={draft.faults}
            place={draft.isNew && <PlaceField rules={rules} place={draft.place} onChange={draft.setPlace} />}
          />
        </form>
        <div className={sheet.right}>
          <Questions
            explain={
              <ExplainPanel
                explain={draft.explain}
                rules={draft.ruleSet}
                words={words}
                own={draft.id}
                isWaiting={!draft.isWhole || draft.isRefused}
              />
            }
            replay={<ReplayPanel replay={replay} rules={draft.ruleSet} canAsk={draft.isWhole} />}
            json={<JsonPanel rule={draft.rule} onRule={draft.take} />}
          />
        </div>
      </div>
      {question}
      {save.warning && <SaveQuestion warning={save.warning} onClose={save.forgetWarning} />}
    </Sheet>
  );
}

function Questions({ explain, replay, json }: { explain: ReactNode; replay: ReactNode; json: ReactNode }) {
  const { t } = useTranslation('rules');
  return (
    <Tabs defaultValue="explain" keepMounted={false}>
      <Tabs.List className={sheet.tabs}>
        <Tabs.Tab value="explain">{t('explain.tab')}</Tabs.Tab>
        <Tabs.Tab value="replay">{t('replay.tab')}</Tabs.Tab>
        <Tabs.Tab value="json">JSON</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="explain" className={sheet.tab}>
        {explain}
      </Tabs.Panel>
      <Tabs.Panel value="replay" className={sheet.tab}>
        {replay}
      </Tabs.Panel>
      <Tabs.Panel value="json" className={sheet.tab}>
        {json}
      </Tabs.Panel>
    </Tabs>
  );
}

function Foot({
  save,
  trouble,
  onClose,
  opened,
  onDelete,
}: {
  save: Save;
  trouble: string | undefined;
  onClose: () => void;
  opened: Rule | undefined;
  onDelete: ((rule: Rule) => void) | undefined;
}) {
  const { t } = useTranslation('rules');
  const { t: shell } = useTranslation();
  return (
    <>
      <Button type="submit" form="rule-form" variant="filled" loading={save.isBusy}>
        {shell('save')}
      </Button>
      <Button onClick={onClose}>{shell('cancel')}</Button>
      <span role="status" className={trouble ? sheet.trouble : 'muted'}>
        {trouble ?? (save.isBusy ? t('checking', { count: checkDays }) : '')}
      </span>
      {opened && onDelete && (
        <Button
          variant="subtle"
          color="error"
          className={sheet.spring ?? ''}
          onClick={() => onDelete(opened)}
        >
          {t('deleteAsk')}
        </Button>
      )}
    </>
  );
}

function SaveQuestion({ warning, onClose }: { warning: SaveWarning; onClose: () => void }) {
  const { t } = useTranslation('rules');
  const { result, error, saveAnyway } = warning;
  if (result) return <LargeChange result={result} onConfirm={saveAnyway} onClose={onClose} />;
  return (
    <Confirm title={t('unchecked')} action={t('saveAnyway')} onConfirm={saveAnyway} onClose={onClose}>
      {error === undefined
        ? t('uncheckedSlow', { count: checkDays })
        : t('uncheckedFailed', { count: checkDays, reason: sentenceOf(error) })}
    </Confirm>
  );
}

function LargeChange({
  result: { changed, considered, changes },
  onConfirm,
  onClose,
}: {
  result: ReplayResponse;
  onConfirm: () => Promise<void>;
  onClose: () => void;
}) {
  const { t } = useTranslation('rules');
  const formats = useFormats();
  return (
    <Confirm
      title={t('largeChange', { count: changed, number: formats.number(changed), days: checkDays })}
      action={t('saveAnyway')}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      <p>{t('largeChangeAbout', { number: formats.number(considered) })}</p>
      <ul>
        {Object.entries(changes)
          .filter(([, count]) => count > 0)
          .map(([change, count]) => (
            <li key={change}>
              {formats.number(count)} {t(`replay.kind.${change as 'muted'}`, { count })}
            </li>
          ))}
      </ul>
    </Confirm>
  );
}

/** What comes in from the side over the page: a rule, or a question about the rules. */
export function Sheet({
  title,
  isWide,
  head,
  foot,
  onClose,
  children,
}: {
  title: string;
  isWide: boolean;
  /** Stays in sight above what scrolls. */
  head?: ReactNode;
  foot?: ReactNode;
  onClose: () => void;
  children: ReactNode;
}) {
  return (
    <SideDrawer
      onClose={onClose}
      size={isWide ? 1120 : 520}
      title={title}
      classNames={{
        content: styles.content ?? '',
        header: styles.header ?? '',
        body: styles.body ?? '',
      }}
    >
      {head !== undefined && <div className={styles.head}>{head}</div>}
      <div className={styles.scroll}>{children}</div>
      {foot !== undefined && <div className={styles.foot}>{foot}</div>}
    </SideDrawer>
  );
}
