import checkIcon from 'virtual:icon/check';
import copyIcon from 'virtual:icon/copy';
import { Button } from '@mantine/core';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Icon } from '../components/icon.tsx';
import styles from './copy-field.module.css';

/** Text to copy, as a token or a command. */
export function CopyField({ text, label }: { text: string; label: string }) {
  const shown = useRef<HTMLPreElement>(null);
  return (
    <div className={styles.field}>
      <pre ref={shown} className={styles.text}>
        {text}
      </pre>
      <CopyButton text={text} shown={shown} label={label} className={styles.button} />
    </div>
  );
}

const saidMs = 2_000;

/** Copies `text`, and says whether that worked; if the browser refuses, the text is selected. */
export function CopyButton({
  text,
  shown,
  label,
  className,
}: {
  text: string;
  /** The element that shows the text. */
  shown: RefObject<HTMLElement | null>;
  label: string;
  className?: string | undefined;
}) {
  const { t } = useTranslation();
  const [outcome, setOutcome] = useState<'copied' | 'copyFailed'>();
  useEffect(() => {
    if (outcome !== 'copied') return;
    const timer = setTimeout(() => setOutcome(undefined), saidMs);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = async () => {
    if (shown.current) setOutcome((await copyText(text, shown.current)) ? 'copied' : 'copyFailed');
  };
  return (
    <Button
      size="xs"
      className={className ?? ''}
      leftSection={<Icon paths={outcome === 'copied' ? checkIcon : copyIcon} size={14} />}
      onClick={() => void copy()}
      aria-label={`${t('copy')}: ${label}`}
    >
      <span aria-live="polite">{t(outcome ?? 'copy')}</span>
    </Button>
  );
}

/** Browsers allow the clipboard only on HTTPS. */
async function copyText(text: string, shown: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    if (shown instanceof HTMLTextAreaElement) shown.select();
    else getSelection()?.selectAllChildren(shown);
    return document.execCommand('copy');
  }
}
