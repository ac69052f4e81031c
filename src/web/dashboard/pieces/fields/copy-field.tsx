import { useRef } from 'react';
import { CopyButton } from './copy-button.tsx';
import styles from './copy-field.module.css';

/** Text to be taken elsewhere (a token, a command), whole and selectable, with a button that copies it. */
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
