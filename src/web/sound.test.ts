import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Sound } from './sound.ts';

let contexts: FakeContext[];
let tones: FakeOscillator[];

class FakeNode {
  readonly #outputs = new Set<FakeNode>();

  connect(output: FakeNode): FakeNode {
    this.#outputs.add(output);
    return output;
  }

  disconnect(): void {
    this.#outputs.clear();
  }

  reaches(other: FakeNode): boolean {
    return this === other || [...this.#outputs].some((output) => output.reaches(other));
  }
}

class FakeContext extends EventTarget {
  state = 'running';
  currentTime = 0;
  destination = new FakeNode();

  constructor() {
    super();
    contexts.push(this);
  }

  async close(): Promise<void> {
    this.state = 'closed';
  }
}

const parameter = { setValueAtTime() {}, exponentialRampToValueAtTime() {}, linearRampToValueAtTime() {} };

class FakeGain extends FakeNode {
  readonly gain = parameter;
}

class FakeOscillator extends FakeNode {
  readonly frequency = parameter;
  readonly context: FakeContext;
  readonly type: OscillatorType;

  constructor(context: FakeContext, { type }: { type: OscillatorType }) {
    super();
    this.context = context;
    this.type = type;
    tones.push(this);
  }

  start(): void {}
  stop(): void {}
}

const audible = () => tones.filter((tone) => tone.reaches(tone.context.destination)).map(({ type }) => type);

beforeEach(() => {
  contexts = [];
  tones = [];
  vi.useFakeTimers();
  vi.stubGlobal('AudioContext', FakeContext);
  vi.stubGlobal('GainNode', FakeGain);
  vi.stubGlobal('OscillatorNode', FakeOscillator);
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const chime = ['sine', 'sine'];
const siren = Array(4).fill('sawtooth');

test('a siren one second after a chime is heard, and the chime no more', () => {
  const sound = new Sound(() => undefined);
  sound.play('chime', 30);
  expect(audible()).toEqual(chime);
  vi.advanceTimersByTime(1_000);
  expect(sound.play('siren', 50)).toBe(true);
  expect(audible()).toEqual(siren);
});

test('while a sound lasts, no other of its rank or a lower one is heard', () => {
  const sound = new Sound(() => undefined);
  sound.play('siren', 50);
  vi.advanceTimersByTime(2_000);
  sound.play('chime', 30);
  sound.play('siren', 50);
  expect(audible()).toEqual(siren);
  vi.advanceTimersByTime(1_000);
  sound.play('chime', 30);
  expect(audible()).toEqual(chime);
});

test('closing lets go of the device', () => {
  const onState = vi.fn();
  const sound = new Sound(onState);
  sound.close();
  contexts[0]?.dispatchEvent(new Event('statechange'));
  expect(contexts[0]?.state).toBe('closed');
  expect(onState).not.toHaveBeenCalled();
  expect(sound.play('siren', 50)).toBe(false);
});
