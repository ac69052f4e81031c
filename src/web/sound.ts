/** The sounds of levels, made on the spot: no files, no waiting. */
import type { Level } from '../contract/level.ts';

type SoundName = Level['sound'];

interface Tone {
  readonly at: number;
  readonly hz: number;
  /** Glides there. */
  readonly toHz?: number;
  readonly seconds: number;
  readonly wave?: OscillatorType;
  readonly gain?: number;
}

const twice = (tones: readonly Tone[], after: number): Tone[] =>
  [0, after].flatMap((start) => tones.map((tone) => ({ ...tone, at: tone.at + start })));

const sounds: Readonly<Record<Exclude<SoundName, 'none'>, readonly Tone[]>> = {
  chime: [
    { at: 0, hz: 659, seconds: 0.9 },
    { at: 0.16, hz: 988, seconds: 1.2 },
  ],
  ping: [{ at: 0, hz: 1320, seconds: 0.5 }],
  knock: twice([{ at: 0, hz: 190, toHz: 90, seconds: 0.14, wave: 'triangle', gain: 1 }], 0.18),
  alert: twice(
    [
      { at: 0, hz: 784, seconds: 0.22, wave: 'triangle' },
      { at: 0.16, hz: 587, seconds: 0.4, wave: 'triangle' },
    ],
    0.55,
  ),
  alarm: [0, 0.28, 0.56, 0.84].map((at) => ({
    at,
    hz: 880,
    seconds: 0.2,
    wave: 'square' as const,
    gain: 0.25,
  })),
  siren: twice(
    [
      { at: 0, hz: 520, toHz: 1040, seconds: 0.65, wave: 'sawtooth', gain: 0.3 },
      { at: 0.65, hz: 1040, toHz: 520, seconds: 0.65, wave: 'sawtooth', gain: 0.3 },
    ],
    1.3,
  ),
};

/** Two sounds closer than this are noise. */
const pauseMs = 1_500;

export class Sound {
  #context: AudioContext | undefined;
  #lastAt = Number.NEGATIVE_INFINITY;
  readonly #onState: () => void;

  constructor(onState: () => void) {
    this.#onState = onState;
    try {
      this.#context = new AudioContext();
      this.#context.addEventListener('statechange', onState);
    } catch {
      // A device without sound shows everything all the same.
    }
  }

  /** Browsers let a page be heard only after someone has touched it once. */
  get locked(): boolean {
    return this.#context?.state === 'suspended';
  }

  /** To be called from a touch or a key. */
  unlock(): void {
    if (this.#context?.state === 'suspended')
      void this.#context.resume().then(this.#onState, () => undefined);
  }

  /** Answers whether the screen can be heard. */
  play(name: SoundName): boolean {
    const context = this.#context;
    const now = performance.now();
    if (name === 'none' || context?.state !== 'running') return false;
    if (now - this.#lastAt < pauseMs) return true;
    this.#lastAt = now;
    for (const tone of sounds[name]) schedule(context, tone);
    return true;
  }
}

let preview: AudioContext | undefined;

/** Plays it now; to be called from a touch or a key. Answers how long it lasts; undefined where there is no sound. */
export async function playOnce(name: SoundName): Promise<number | undefined> {
  if (name === 'none') return undefined;
  try {
    preview ??= new AudioContext();
    await preview.resume();
  } catch {
    return undefined;
  }
  for (const tone of sounds[name]) schedule(preview, tone);
  return Math.max(...sounds[name].map(({ at, seconds }) => at + seconds)) * 1_000;
}

function schedule(context: AudioContext, { at, hz, toHz, seconds, wave = 'sine', gain = 0.5 }: Tone): void {
  const start = context.currentTime + 0.02 + at;
  const oscillator = new OscillatorNode(context, { type: wave, frequency: hz });
  const envelope = new GainNode(context, { gain: 0 });
  if (toHz !== undefined) oscillator.frequency.linearRampToValueAtTime(toHz, start + seconds);
  envelope.gain.setValueAtTime(0.0001, start);
  envelope.gain.exponentialRampToValueAtTime(gain, start + 0.012);
  envelope.gain.exponentialRampToValueAtTime(0.0001, start + seconds);
  oscillator.connect(envelope).connect(context.destination);
  oscillator.start(start);
  oscillator.stop(start + seconds + 0.05);
}
