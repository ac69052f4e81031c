/** Texts as monitoring systems, jobs and applications write them, for generated histories. */

/** A small fast random generator: the same seed gives the same history. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 up to but not including 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  /** Skewed towards low numbers: i is about twice as frequent as 2i. */
  skewed(count: number): number {
    return Math.floor(count ** this.next()) - 1;
  }

  of<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T;
  }
}

const subjects = [
  'disk',
  'memory',
  'cpu load',
  'swap',
  'ssh',
  'http',
  'dns',
  'certificate',
  'replication',
  'backup',
  'queue',
];
const mounts = ['/', '/var', '/var/lib/postgresql', '/home', '/data', '/mnt/backup'];
const services = [
  'nginx',
  'postgres',
  'redis',
  'kafka',
  'billing',
  'checkout',
  'search',
  'mailer',
  'gateway',
  'scheduler',
  'auth',
];
const titles: readonly ((dice: Dice, host: string) => string)[] = [
  (dice, host) => `${dice.of(subjects)} on ${host} is high`,
  (dice, host) => `${dice.of(subjects)} on ${host} recovered`,
  (dice, host) => `Disk full on ${host}: ${dice.of(mounts)}`,
  (dice) => `Service ${dice.of(services)} restarted`,
  (dice) =>
    `Deployment of ${dice.of(services)} v${dice.below(9)}.${dice.below(40)}.${dice.below(10)} finished`,
  (dice) => `Backup job ${dice.of(services)}-${dice.below(50)} completed`,
  (dice) => `Backup job ${dice.of(services)}-${dice.below(50)} failed`,
  (dice) => `${dice.of(services)}: error rate above threshold`,
  (_, host) => `${host} is not reachable`,
  (_, host) => `${host} is reachable again`,
  (dice) => `Zertifikat für ${dice.of(services)}.example.de läuft ab`,
];
const messages: readonly ((dice: Dice, host: string) => string)[] = [
  (dice, host) => `${dice.of(mounts)} on ${host} is at ${dice.below(100)} %, ${dice.below(900)} MB left`,
  (dice) =>
    `connection to ${dice.of(services)} timed out after ${dice.below(60)} s (attempt ${dice.below(6)})`,
  (dice) =>
    `connection refused by 10.${dice.below(4)}.${dice.below(256)}.${dice.below(256)}:${1024 + dice.below(60_000)}`,
  (dice) => `load average ${dice.below(40)}.${dice.below(100)}, ${dice.below(900)} processes`,
  (dice) =>
    `exit status ${dice.below(3)} after ${dice.below(5000)} ms, trace ${dice.below(2 ** 31).toString(16)}`,
  (dice) => `all checks passed in ${dice.below(900)} ms`,
  (dice) => `replication lag is ${dice.below(9000)} s on ${dice.of(services)}`,
  (dice) => `user ${dice.of(services)}-${dice.below(400)} signed in from a new address`,
];

const syllables = [
  'ba',
  'den',
  'co',
  'fi',
  'gra',
  'hol',
  'in',
  'ka',
  'lo',
  'mer',
  'no',
  'pra',
  'qui',
  'ro',
  'ste',
  'tu',
  'ver',
  'zon',
];
/** A made-up word; low numbers are frequent words. */
const madeUpWord = (number: number) => {
  let word = '';
  for (let n = number + 20; n > 0; n = Math.floor(n / syllables.length))
    word += syllables[n % syllables.length];
  return word;
};
const vocabulary = Array.from({ length: 20_000 }, (_, number) => madeUpWord(number));

export const writeTitle = (dice: Dice, host: string) => dice.of(titles)(dice, host);

/** Most messages are a line, one in ten is a paragraph, one in a hundred is pages long. */
export function writeMessage(dice: Dice, host: string): string {
  const line = dice.of(messages)(dice, host);
  const kind = dice.below(100);
  const words = kind === 0 ? 300 + dice.below(900) : kind < 11 ? 30 + dice.below(90) : 0;
  if (words === 0) return line;
  const more = Array.from({ length: words }, () => vocabulary[dice.skewed(vocabulary.length)]);
  return `${line}\n${more.join(' ')}`;
}
