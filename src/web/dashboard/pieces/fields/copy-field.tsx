import checkIcon from 'virtual:icon/check';
import copyIcon from 'virtual:icon/copy';
import { Button } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Icon } from '../icon.tsx';
import styles from './copy-field.module.css';

const copiedMs = 2_000;

/** Text to be taken elsewhere (a token, a command), whole and selectable, with a button that copies it. */
export function CopyField({ text, label }: { text: string; label: string }) {
  const { t } = useTranslation();
  const [copied, setCopied] = useState(false);
  const shown = useRef<HTMLPreElement>(null);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), copiedMs);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => {
    if (shown.current) setCopied(await copyText(text, shown.current));
  };
  return (
    <div className={styles.field}>
      <pre ref={shown} className={styles.text}>
        {text}
      </pre>
      <Button
        size="xs"
        className={styles.button}
        leftSection={<Icon paths={copied ? checkIcon : copyIcon} size={14} />}
        onClick={() => void copy()}
        aria-label={`${t('copy')}: ${label}`}
      >
        <span aria-live="polite">{copied ? t('copied') : t('copy')}</span>
      </Button>
    </div>
  );
}

/** Browsers give the clipboard to pages of https alone: elsewhere the text is chosen, and copied as by the keyboard. */
async function copyText(text: string, shown: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    getSelection()?.selectAllChildren(shown);
    return document.execCommand('copy');
  }
}
