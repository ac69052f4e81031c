import { Button } from '@mantine/core';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { RuleCreate } from '#contract/rule.ts';
import { CopyButton } from '#web/dashboard/components/copy-field.tsx';
import { jsonOf, ruleFromJson } from './rule-json.ts';
import styles from './try-panels.module.css';

/** The rule as the API takes it: to copy, and to paste another in its place. */
export function JsonPanel({
  rule,
  onRule,
}: {
  rule: Required<RuleCreate>;
  /** Left out where nothing may be changed. */
  onRule?: (rule: RuleCreate) => void;
}) {
  const { t } = useTranslation('rules');
  const shown = useRef<HTMLTextAreaElement>(null);
  const own = jsonOf(rule);
  /** What was typed, until it is read or given up. */
  const [typed, setTyped] = useState<string>();
  const read = typed === undefined ? undefined : ruleFromJson(typed);
  const fault = read && 'fault' in read ? read : undefined;
  const take = (text: string) => {
    const result = ruleFromJson(text);
    if ('rule' in result) {
      onRule?.(result.rule);
      setTyped(undefined);
    } else setTyped(text);
  };
  return (
    <div className={styles.panel}>
      <p className={styles.hint}>{t(onRule ? 'json.about' : 'json.aboutReading')}</p>
      <textarea
        ref={shown}
        className={styles.json}
        aria-label={t('json.label')}
        aria-invalid={fault !== undefined}
        aria-describedby={fault ? 'rule-json-fault' : undefined}
        spellCheck={false}
        readOnly={!onRule}
        value={typed ?? own}
        onChange={({ target }) => setTyped(target.value)}
        onBlur={() => typed !== undefined && take(typed)}
        onPaste={(event) => {
          const { selectionStart, selectionEnd, value } = event.currentTarget;
          const pasted = event.clipboardData.getData('text/plain');
          if (!onRule || !('rule' in ruleFromJson(pasted))) return;
          // A whole rule over a whole rule is taken at once; into the middle of one it is only text.
          const isAll = selectionEnd - selectionStart === value.length || selectionStart === selectionEnd;
          if (!isAll) return;
          event.preventDefault();
          take(pasted);
        }}
      />
      {fault && (
        <p className={styles.complaint} id="rule-json-fault" role="alert">
          {t(`json.${fault.fault}`, { detail: fault.detail })}
        </p>
      )}
      <div className={styles.ask}>
        <CopyButton text={typed ?? own} shown={shown} label={t('json.label')} />
        {fault && (
          <Button size="xs" onClick={() => setTyped(undefined)}>
            {t('json.giveUp')}
          </Button>
        )}
      </div>
    </div>
  );
}
