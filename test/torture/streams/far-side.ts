/** Another end of a network, on this machine: a namespace behind a pair of virtual interfaces. */
import { execFileSync } from 'node:child_process';

const near = '10.231.7.1';
const far = '10.231.7.2';

/** Why there can be none here; undefined when there can. */
export function missingNamespace(): string | undefined {
  try {
    new FarSide('belfry-probe').remove();
    return undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n').join(' ') : String(error);
    return `a network namespace needs root and iproute2 (in a container: --cap-add NET_ADMIN,SYS_ADMIN): ${reason}`;
  }
}

const ip = (...args: string[]) => execFileSync('ip', args, { stdio: 'pipe' });

export class FarSide {
  /** Where the near side is, seen from there. */
  readonly host = near;
  readonly #name: string;
  readonly #link: string;

  constructor(name: string) {
    this.#name = name;
    // An interface's name has at most 15 characters.
    this.#link = `bfy${process.pid % 1_000_000}`;
    ip('netns', 'add', name);
    try {
      ip('link', 'add', this.#link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
      ip('address', 'add', `${near}/30`, 'dev', this.#link);
      ip('link', 'set', this.#link, 'up');
      ip('-n', name, 'address', 'add', `${far}/30`, 'dev', 'eth0');
      ip('-n', name, 'link', 'set', 'eth0', 'up');
    } catch (error) {
      this.remove();
      throw error;
    }
  }

  /** What runs a command there. */
  get under(): string[] {
    return ['ip', 'netns', 'exec', this.#name];
  }

  /** From now on packets of both sides are swallowed without a word, or arrive again. */
  swallow(on: boolean): void {
    ip('-n', this.#name, 'link', 'set', 'eth0', on ? 'down' : 'up');
  }

  remove(): void {
    // A namespace takes its end of the link along, but some time after it was deleted: a next one would find the name taken.
    try {
      ip('link', 'delete', this.#link);
    } catch {
      // It was never made.
    }
    ip('netns', 'delete', this.#name);
  }
}
