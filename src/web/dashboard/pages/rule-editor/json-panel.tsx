import { Button } from '@mantine/core';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { RuleCreate } from '#contract/routing/rule.ts';
import { CopyButton } from '#web/dashboard/fields/copy-field.tsx';
import { jsonOf, ruleFromJson } from './rule-json.ts';
import styles from './try-panels.module.css';

/** The rule as JSON, to copy it or to replace it. */
export function JsonPanel({
  rule,
  onRule,
}: {
  rule: Required<RuleCreate>;
  /** Left out for a reader. */
  onRule?: (rule: RuleCreate) => void;
}) {
  const { t } = useTranslation('rules');
  const shown = useRef<HTMLTextAreaElement>(null);
  const own = jsonOf(rule);
  /** The typed text while it is not a valid rule. */
  const [typed, setTyped] = useState<string>();
  const read = typed === undefined ? undefined : ruleFromJson(typed);
  const problem = read && 'problem' in read ? read : undefined;
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
        aria-invalid={problem !== undefined}
        aria-describedby={problem ? 'rule-json-problem' : undefined}
        spellCheck={false}
        readOnly={!onRule}
        value={typed ?? own}
        onChange={({ target }) => setTyped(target.value)}
        onBlur={() => typed !== undefined && take(typed)}
        onPaste={(event) => {
          const { selectionStart, selectionEnd, value } = event.currentTarget;
          const pasted = event.clipboardData.getData('text/plain');
          if (!onRule || !('rule' in ruleFromJson(pasted))) return;
          // A rule pasted over the whole text replaces the rule; pasted into the middle it is text.
          const isAll = selectionEnd - selectionStart === value.length || selectionStart === selectionEnd;
          if (!isAll) return;
          event.preventDefault();
          take(pasted);
        }}
      />
      {problem && (
        <p className={styles.error} id="rule-json-problem" role="alert">
          {t(`json.${problem.problem}`, { detail: problem.detail })}
        </p>
      )}
      <div className={styles.ask}>
        <CopyButton text={typed ?? own} shown={shown} label={t('json.label')} />
        {problem && (
          <Button size="xs" onClick={() => setTyped(undefined)}>
            {t('json.giveUp')}
          </Button>
        )}
      </div>
    </div>
  );
}
