import { iconPaths } from 'virtual:icons';
import { svgElement } from './dom.ts';

const byName = new Map(Object.entries(iconPaths));

/** An outline icon in the colour of the text around it; a bell for a name that this page does not know. */
export function icon(name: string): SVGSVGElement {
  const paths = byName.get(name) ?? iconPaths.bell;
  return svgElement(
    'svg',
    {
      class: 'icon',
      viewBox: '0 0 24 24',
      fill: 'none',
      stroke: 'currentColor',
      'stroke-width': '2',
      'stroke-linecap': 'round',
      'stroke-linejoin': 'round',
      'aria-hidden': 'true',
    },
    ...(paths ?? []).map((d) => svgElement('path', { d })),
  );
}
