import type { Area } from '../state/arrange.ts';

/** The room for cards in design pixels, and the size of a design pixel on this screen. */
export interface StageArea extends Area {
  readonly unitPx: number;
  /** A phone or a low window: the page scrolls, and cards are as high as their text. */
  readonly scrolls: boolean;
  /** A phone. */
  readonly isNarrow: boolean;
}

export interface Stage {
  area(): StageArea;
  close(): void;
}

/** Below this, text is too small to read on a desk. */
const leastUnitPx = 0.7;
const design = { width: 1920, height: 1080 };
/** Header, footer and padding around the cards; as in frame.css. */
const around = { x: 80, y: 76 + 56 + 8 };
const lowest = 560;
const narrowest = 900;

/** Keeps `--u`, the size of a design pixel, in line with the window; calls back after a change. */
export function createStage(scale: number, onResize: () => void): Stage {
  let area = measure(scale);
  const apply = () => {
    area = measure(scale);
    const { style, classList } = document.documentElement;
    style.setProperty('--u', `${area.unitPx}px`);
    classList.toggle('scrolls', area.scrolls);
    classList.toggle('narrow', area.isNarrow);
  };
  apply();
  const onWindow = () => {
    apply();
    onResize();
  };
  addEventListener('resize', onWindow);
  return { area: () => area, close: () => removeEventListener('resize', onWindow) };
}

function measure(scale: number): StageArea {
  const { innerWidth, innerHeight } = window;
  const unitPx =
    scale * Math.max(leastUnitPx, Math.min(innerWidth / design.width, innerHeight / design.height));
  const width = innerWidth / unitPx - around.x;
  const height = innerHeight / unitPx - around.y;
  const isNarrow = width < narrowest;
  const scrolls = isNarrow || height < lowest;
  return { unitPx, width, height: scrolls ? Number.POSITIVE_INFINITY : height, scrolls, isNarrow };
}
