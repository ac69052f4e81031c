/** strace, through which a test watches a server's system calls or makes some of them fail. */
import { execFileSync, spawnSync } from 'node:child_process';

/** Makes sure of strace, installing it where that is possible; says what is missing otherwise. */
export function missingStrace(): string | undefined {
  if (hasStrace()) return undefined;
  if (process.getuid?.() === 0) {
    for (const args of [['update'], ['install', '-y', '--no-install-recommends', 'strace']])
      spawnSync('apt-get', args, { stdio: 'ignore', timeout: 120_000 });
    if (hasStrace()) return undefined;
  }
  return 'strace is needed here and cannot be installed by this user: sudo apt-get install strace';
}

function hasStrace(): boolean {
  try {
    execFileSync('strace', ['-V'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/**
 * A command to put before another one. strace stays beside it (-D), so that signals and the exit code are the
 * command's own; the trace goes to file descriptor 3.
 */
export function straced(...options: string[]): string[] {
  return ['strace', '-D', '-f', '--seccomp-bpf', '-qq', '-e', 'signal=none', ...options, '-o', '|cat >&3'];
}
