import { element, setText, svgElement } from '#web/dom.ts';

export interface Notice {
  readonly head: string;
  readonly detail: string;
  readonly kind: 'quiet' | 'connecting' | 'trouble';
}

/** What a screen says that has no cards to show. */
export interface NoticeView {
  readonly root: HTMLElement;
  show(notice: Notice | undefined): void;
}

export function createNoticeView(): NoticeView {
  const head = element('h2');
  const detail = element('p');
  const root = element('section', { class: 'notice' }, bell(), head, detail);
  return {
    root,
    show(notice) {
      root.hidden = !notice;
      if (!notice) return;
      root.dataset.kind = notice.kind;
      setText(head, notice.head);
      setText(detail, notice.detail);
    },
  };
}

/** The mark of Belfry: a bell in its arch. */
export function bell(): SVGSVGElement {
  return svgElement(
    'svg',
    { class: 'mark', viewBox: '0 0 64 64', fill: 'none', stroke: 'currentColor', 'aria-hidden': 'true' },
    svgElement('path', { class: 'arch', d: 'M8 60V30a24 24 0 0 1 48 0v30' }),
    svgElement('path', {
      class: 'bell',
      d: 'M32 18v4m-12 24c3-3 4-7 4-13a8 8 0 0 1 16 0c0 6 1 10 4 13zm8 0a4 4 0 0 0 8 0',
    }),
  );
}
