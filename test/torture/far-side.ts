/** Another end of a network, on this machine: a namespace behind a pair of virtual interfaces. */
import { execFileSync } from 'node:child_process';

const net = (link: number) => `10.231.${7 + link}`;

/** Why there can be none here; undefined when there can. */
export function missingNamespace(): string | undefined {
  try {
    new FarSide(`belfry-probe-${process.pid}`).remove();
    return undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n').join(' ') : String(error);
    return `a network namespace needs root and iproute2 (in a container: --cap-add NET_ADMIN,SYS_ADMIN): ${reason}`;
  }
}

const ip = (...args: string[]) => execFileSync('ip', args, { stdio: 'pipe' });

export class FarSide {
  readonly #name: string;
  readonly #links: string[] = [];

  /** `links`: pairs of interfaces, of which each can be cut alone. */
  constructor(name: string, links = 1) {
    this.#name = name;
    ip('netns', 'add', name);
    try {
      ip('-n', name, 'link', 'set', 'lo', 'up');
      for (let i = 0; i < links; i++) {
        // An interface's name has at most 15 characters.
        const link = `bfy${process.pid % 1_000_000}${i}`;
        ip('link', 'add', link, 'type', 'veth', 'peer', 'name', `eth${i}`, 'netns', name);
        this.#links.push(link);
        ip('address', 'add', `${this.host(i)}/30`, 'dev', link);
        ip('link', 'set', link, 'up');
        ip('-n', name, 'address', 'add', `${this.farHost(i)}/30`, 'dev', `eth${i}`);
        ip('-n', name, 'link', 'set', `eth${i}`, 'up');
      }
    } catch (error) {
      this.remove();
      throw error;
    }
  }

  /** Where the near side is, seen from there … */
  host(link = 0): string {
    return `${net(link)}.1`;
  }

  /** … and the far side, seen from here. */
  farHost(link = 0): string {
    return `${net(link)}.2`;
  }

  /** What runs a command there. */
  get under(): string[] {
    return ['ip', 'netns', 'exec', this.#name];
  }

  /** From now on packets of both sides are swallowed without a word, or arrive again. Who is at the end `at` sees that the link is down. */
  swallow(on: boolean, link = 0, at: 'near' | 'far' = 'far'): void {
    const state = on ? 'down' : 'up';
    if (at === 'near') ip('link', 'set', this.#links[link] as string, state);
    else ip('-n', this.#name, 'link', 'set', `eth${link}`, state);
  }

  remove(): void {
    // A namespace takes its ends of the links along, but some time after it was deleted: a next one would find the names taken.
    for (const link of this.#links.splice(0)) ip('link', 'delete', link);
    ip('netns', 'delete', this.#name);
  }
}
