import { Button, Tabs } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Rule } from '#contract/routing/rule.ts';
import { sentenceOf } from '#web/dashboard/api/call.ts';
import { Confirm, SideDrawer } from '#web/dashboard/components/layers.tsx';
import { lazyPart, PartNotLoaded } from '#web/dashboard/components/lazy-part.tsx';
import { useUnsavedQuestion } from '#web/dashboard/fields/edit-form.tsx';
import { useFormats } from '#web/dashboard/formats/formats.ts';
import { RuleText, useRuleWords } from '#web/dashboard/rule-text/rule-text.tsx';
import { ExplainPanel } from './explain-panel.tsx';
import { ReplayPanel, useReplay } from './replay-panel.tsx';
import { RuleForm } from './rule-form.tsx';
import styles from './sheet.module.css';
import { type Opening, useRuleDraft } from './use-rule-draft.ts';
import { checkDays, type SaveWarning, useSave } from './use-save.ts';

/** It brings the contract's schema, which nothing else here needs. */
export const JsonPanel = lazyPart(async () => (await import('./json-panel.tsx')).JsonPanel, PartNotLoaded);

export interface SheetProps {
  readonly rules: readonly Rule[];
  /** Of the rules in force. */
  readonly version: string;
  /** The id of the notification to explain. */
  readonly explain: string | undefined;
  readonly onClose: () => void;
}

/** A rule's editor: its sentence above, the form, and beside it what the rule would do. */
export function RuleSheet({
  opening,
  onDelete,
  ...props
}: SheetProps & { opening: Opening; onDelete?: (rule: Rule) => void }) {
  const { t } = useTranslation('rules');
  const { rules, onClose } = props;
  const words = useRuleWords();
  const draft = useRuleDraft(opening, { ...props, words });
  const replay = useReplay();
  const { question, leave } = useUnsavedQuestion(draft.isChanged);
  const save = useSave(draft, replay, () => leave(onClose));
  const number = rules.findIndex(({ id }) => id === draft.id) + 1;
  const { rule, otherError } = draft;
  return (
    <Sheet
      isWide
      title={draft.isNew ? t('newRule') : t('ruleNumber', { number })}
      onClose={onClose}
      head={<RuleText rule={rule} words={words} />}
      foot={
        <>
          {'rule' in opening && onDelete && (
            <Button variant="subtle" color="error" onClick={() => onDelete(opening.rule)}>
              {t('deleteAsk')}
            </Button>
          )}
          <span role="status" className={otherError ? styles.error : styles.status}>
            {otherError ?? (save.isBusy ? t('checking', { count: checkDays }) : '')}
          </span>
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button type="submit" form="rule-form" variant="filled" loading={save.isBusy}>
            {t('save')}
          </Button>
        </>
      }
    >
      <div className={styles.columns}>
        <form
          className={styles.left}
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            void save.check();
          }}
          id="rule-form"
        >
          <RuleForm draft={draft} rules={rules} />
        </form>
        <div className={styles.right}>
          <TryTabs
            explain={
              <ExplainPanel
                explain={draft.explain}
                rules={draft.ruleSet}
                words={words}
                own={draft.id}
                isWaiting={!draft.isComplete || draft.isInvalid}
              />
            }
            replay={<ReplayPanel replay={replay} rules={draft.ruleSet} canRun={draft.isComplete} />}
            json={<JsonPanel rule={rule} onRule={draft.take} />}
          />
        </div>
      </div>
      {question}
      {save.warning && <SaveQuestion warning={save.warning} onClose={save.forgetWarning} />}
    </Sheet>
  );
}

/** The ways to try a rule, a tab each. */
export function TryTabs(panels: { explain: ReactNode; replay?: ReactNode; json: ReactNode }) {
  const { t } = useTranslation('rules');
  const tabs = [
    ['explain', t('explain')],
    ['replay', t('replay.tab')],
    ['json', 'JSON'],
  ] as const;
  const shown = tabs.filter(([name]) => panels[name]);
  return (
    <Tabs defaultValue="explain" keepMounted={false}>
      <Tabs.List className={styles.tabs}>
        {shown.map(([name, title]) => (
          <Tabs.Tab key={name} value={name}>
            {title}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {shown.map(([name]) => (
        <Tabs.Panel key={name} value={name} className={styles.tab}>
          {panels[name]}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

/** Asks before a rule is saved that changes much, or could not be checked. */
function SaveQuestion({ warning, onClose }: { warning: SaveWarning; onClose: () => void }) {
  const { t } = useTranslation('rules');
  const formats = useFormats();
  const { result, error, saveAnyway } = warning;
  const confirm = { action: t('saveAnyway'), onConfirm: saveAnyway, onClose };
  if (!result)
    return (
      <Confirm title={t('unchecked')} {...confirm}>
        {error === undefined
          ? t('uncheckedSlow', { count: checkDays })
          : t('uncheckedFailed', { count: checkDays, reason: sentenceOf(error) })}
      </Confirm>
    );
  const { changed, considered, changes } = result;
  return (
    <Confirm
      title={t('largeChange', { count: changed, number: formats.number(changed), days: checkDays })}
      {...confirm}
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

/** A drawer whose head and foot stay in sight while its content scrolls. */
export function Sheet({
  title,
  isWide = false,
  head,
  foot,
  onClose,
  children,
}: {
  title: string;
  isWide?: boolean;
  head?: ReactNode;
  foot?: ReactNode;
  onClose: () => void;
  children: ReactNode;
}) {
  const { content = '', header = '', body = '' } = styles;
  return (
    <SideDrawer
      onClose={onClose}
      size={isWide ? 1120 : 520}
      title={title}
      classNames={{ content, header, body }}
    >
      {head && <div className={styles.head}>{head}</div>}
      <div className={styles.scroll}>{children}</div>
      {foot && <div className={styles.foot}>{foot}</div>}
    </SideDrawer>
  );
}
