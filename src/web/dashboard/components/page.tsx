import { Button, type ButtonProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import { type AnchorHTMLAttributes, type ReactNode, type Ref, useEffect, useRef } from 'react';
import styles from './page.module.css';

/** A page's frame: its name, what can be done on it, and its content below, which scrolls. */
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

/** The page's name, for the window too. It has the focus after a change of page, unless the page put it elsewhere. */
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

/** A part of a page with a name of its own. */
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

type AnchorProps = ButtonProps &
  Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof ButtonProps> & { ref?: Ref<HTMLAnchorElement> };

/** A link to a page that looks like a button. */
export const LinkButton = createLink((props: AnchorProps) => <Button component="a" {...props} />);
