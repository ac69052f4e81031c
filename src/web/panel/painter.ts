/** Limits painting to four times a second, so that people can read a flood; urgent changes are painted at once. */
export interface Painter {
  paint(when: 'now' | 'soon'): void;
  stop(): void;
}

const calmMs = 250;

export function createPainter(paint: () => void): Painter {
  let frame: number | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let paintedAt = Number.NEGATIVE_INFINITY;
  const stop = () => {
    if (frame !== undefined) cancelAnimationFrame(frame);
    clearTimeout(timer);
    frame = undefined;
    timer = undefined;
  };
  const request = () => {
    timer = undefined;
    frame ??= requestAnimationFrame((at) => {
      frame = undefined;
      paintedAt = at;
      paint();
    });
  };
  return {
    paint(when) {
      if (frame !== undefined) return;
      const wait = when === 'now' ? 0 : paintedAt + calmMs - performance.now();
      if (wait <= 0) {
        clearTimeout(timer);
        request();
      } else timer ??= setTimeout(request, wait);
    },
    stop,
  };
}
