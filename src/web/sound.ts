/** The sounds of levels, synthesized without files. */
import type { Level } from '#contract/routing/level.ts';

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

/** A sound is left alone for this long, or for as long as it lasts: two at once are noise. */
const leastMs = 1_500;

/** The sound that was played last. */
interface Playing {
  readonly output: GainNode;
  readonly rank: number;
  readonly endsAt: number;
}

/** Plays one sound at a time. */
export class Sound {
  #context: AudioContext | undefined;
  #playing: Playing | undefined;
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

  /**
   * Plays a sound. One that still lasts is cut off by a higher rank; otherwise it goes on and this one is dropped.
   * Answers whether the screen can be heard.
   */
  play(name: SoundName, rank: number): boolean {
    const context = this.#context;
    const now = performance.now();
    if (name === 'none' || context?.state !== 'running') return false;
    if (this.#playing && now < this.#playing.endsAt && rank <= this.#playing.rank) return true;
    this.#playing?.output.disconnect();
    const output = schedule(context, name);
    this.#playing = { output, rank, endsAt: now + Math.max(leastMs, lengthMs(name)) };
    return true;
  }

  /** Releases the audio device. */
  close(): void {
    this.#context?.removeEventListener('statechange', this.#onState);
    void this.#context?.close();
    this.#context = undefined;
  }
}

let preview: AudioContext | undefined;

/** Plays a sound at once; call it from a touch or key event. Returns its length; undefined without sound. */
export async function playOnce(name: SoundName): Promise<number | undefined> {
  if (name === 'none') return undefined;
  try {
    preview ??= new AudioContext();
    await preview.resume();
  } catch {
    return undefined;
  }
  schedule(preview, name);
  return lengthMs(name);
}

type Audible = keyof typeof sounds;

const lengthMs = (name: Audible) => Math.max(...sounds[name].map(({ at, seconds }) => at + seconds)) * 1_000;

/** Returns the node that carries the whole sound: disconnecting it ends the sound. */
function schedule(context: AudioContext, name: Audible): GainNode {
  const output = new GainNode(context);
  output.connect(context.destination);
  for (const tone of sounds[name]) scheduleTone(context, tone, output);
  return output;
}

function scheduleTone(
  context: AudioContext,
  { at, hz, toHz, seconds, wave = 'sine', gain = 0.5 }: Tone,
  output: GainNode,
): void {
  const start = context.currentTime + 0.02 + at;
  const oscillator = new OscillatorNode(context, { type: wave, frequency: hz });
  const envelope = new GainNode(context, { gain: 0 });
  if (toHz !== undefined) oscillator.frequency.linearRampToValueAtTime(toHz, start + seconds);
  envelope.gain.setValueAtTime(0.0001, start);
  envelope.gain.exponentialRampToValueAtTime(gain, start + 0.012);
  envelope.gain.exponentialRampToValueAtTime(0.0001, start + seconds);
  oscillator.connect(envelope).connect(output);
  oscillator.start(start);
  oscillator.stop(start + seconds + 0.05);
}
