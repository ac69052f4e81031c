import plusIcon from 'virtual:icon/plus';
import { Button, type ButtonProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import { type AnchorHTMLAttributes, type ReactNode, type Ref, useEffect, useRef } from 'react';
import { Icon } from './icon.tsx';
import { useShortcuts } from './keyboard.ts';
import styles from './page.module.css';

/** A page: its title, its actions, and its content. */
export function Page({
  title,
  about,
  actions,
  children,
  wide = false,
}: {
  title: string;
  about?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  /** The content takes the whole width: tables and lists. */
  wide?: boolean;
}) {
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <div>
          <PageHeading title={title} className={styles.title} />
          {about !== undefined && <p className={styles.about}>{about}</p>}
        </div>
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      </header>
      <div className={wide ? styles.wide : styles.content}>{children}</div>
    </div>
  );
}

let isFirstPage = true;

/** The page's title, also the window's. It gets the focus after a change of page, unless the page focused something else. */
export function PageHeading({ title, className }: { title: string; className?: string | undefined }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Belfry`;
  }, [title]);
  useEffect(() => {
    const isOnPage = document.activeElement?.closest('main > *');
    if (!isFirstPage && !isOnPage) heading.current?.focus();
    isFirstPage = false;
  }, []);
  return (
    <h1 ref={heading} tabIndex={-1} className={className}>
      {title}
    </h1>
  );
}

export function Section({
  title,
  actions,
  children,
}: {
  title: string;
  actions?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section className={styles.section}>
      <div className={styles.sectionHead}>
        <h2>{title}</h2>
        {actions}
      </div>
      {children}
    </section>
  );
}

/** A page's main button, which creates something; the key n does the same. */
export function CreateButton({ onClick, children }: { onClick: () => void; children: ReactNode }) {
  useShortcuts({ n: onClick });
  return (
    <Button variant="filled" leftSection={<Icon paths={plusIcon} />} onClick={onClick} aria-keyshortcuts="n">
      {children}
    </Button>
  );
}

type AnchorProps = ButtonProps &
  Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof ButtonProps> & { ref?: Ref<HTMLAnchorElement> };

/** A link to a page that looks like a button. */
export const LinkButton = createLink((props: AnchorProps) => <Button component="a" {...props} />);
