import { encode } from 'uqr';
import { element, fill, setText, svgElement } from '#web/dom.ts';
import type { PairingProgress } from '../pairing.ts';
import type { PanelTranslate } from '../texts/en.ts';
import { bell } from './frame-view.ts';

export interface PairingView {
  readonly root: HTMLElement;
  show(progress: PairingProgress): void;
}

/**
 * The screen that waits to be approved.
 * @param server The address of the dashboard, as in https://belfry.example.org.
 * @param notice Why this screen has to be paired again, if it was paired before.
 */
export function createPairingView(
  server: string,
  notice: string | undefined,
  translate: PanelTranslate,
): PairingView {
  const code = element('output', { class: 'code', 'aria-label': translate('pairCode') });
  const qr = element('div', { class: 'qr' });
  const status = element('p', { class: 'status', role: 'status' });
  const steps = (['pairStep1', 'pairStep2', 'pairStep3'] as const).map((key) =>
    element('li', { text: translate(key) }),
  );
  const ended = notice === undefined ? [] : [element('p', { class: 'ended', text: notice, role: 'alert' })];
  const root = element(
    'main',
    { class: 'pairing' },
    element('div', { class: 'brand' }, bell(), element('span', { text: 'Belfry' })),
    ...ended,
    element('h1', { text: translate('pairTitle') }),
    element(
      'div',
      { class: 'offer' },
      element(
        'div',
        { class: 'words' },
        code,
        element('ol', {}, ...steps),
        element('p', { class: 'server mono', text: server }),
      ),
      qr,
    ),
    status,
  );

  const showCode = (text: string | undefined) => {
    if (code.dataset.code === (text ?? '')) return;
    code.dataset.code = text ?? '';
    fill(code, ...[...(text ?? '······')].map((char) => element('span', { text: char })));
    code.classList.toggle('empty', text === undefined);
    const label = translate('pairQr', { server });
    fill(qr, ...(text === undefined ? [] : [qrCode(`${server}/?pair=${text}`, label)]));
  };

  return {
    root,
    show(progress) {
      const { state } = progress;
      showCode('code' in progress ? progress.code : undefined);
      status.classList.toggle('problem', state === 'unreachable' || state === 'limited');
      if (state === 'waiting') setText(status, translate('pairFresh'));
      if (state === 'requesting-code') setText(status, translate('pairRequesting'));
      if (state === 'unreachable') setText(status, translate('notYetDetail', { server }));
      if (state === 'limited') setText(status, translate('pairLimited', { n: progress.seconds }));
    },
  };
}

/** Draws all dark squares as one path, on white with the margin that scanners need. */
function qrCode(text: string, label: string): SVGSVGElement {
  const { data, size } = encode(text, { ecc: 'M', border: 3 });
  const d = data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : []))).join('');
  return svgElement(
    'svg',
    { viewBox: `0 0 ${size} ${size}`, role: 'img', 'aria-label': label, 'shape-rendering': 'crispEdges' },
    svgElement('path', { d: `M0 0h${size}v${size}H0z`, fill: '#fff' }),
    svgElement('path', { d, fill: '#0b0e14' }),
  );
}
