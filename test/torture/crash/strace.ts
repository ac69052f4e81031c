/** strace, through which a test watches a server's system calls or makes some of them fail. */
import { missingPackage, runs } from '#test/support/skip-reason.ts';

export const missingStrace = () => missingPackage('strace', () => runs(['-V'], 'strace'));

/**
 * A command to put before another one. strace stays beside it (-D), so that signals and the exit code are the
 * command's own; the trace goes to file descriptor 3.
 */
export function straced(...options: string[]): string[] {
  return ['strace', '-D', '-f', '--seccomp-bpf', '-qq', '-e', 'signal=none', ...options, '-o', '|cat >&3'];
}
