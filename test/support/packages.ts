/** Debian's packages that tests use, installed before the first test by root; others are told what is missing. */
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** For `npm test`. */
export const testPackages = [
  'apprise',
  'caddy',
  'chromium-headless-shell',
  'curl',
  'e2fsprogs',
  'faketime',
  'git',
  'haproxy',
  'iproute2',
  'libnet-ssleay-perl',
  'mosquitto',
  'mosquitto-clients',
  'nats-server',
  'nginx-light',
  'openssl',
  'postgresql',
  'prometheus',
  'prometheus-alertmanager',
  'python3',
  'slowhttptest',
  'strace',
  'swaks',
  'systemd',
];

/** What `npm run torture` uses besides. */
export const torturePackages = ['buildah', 'debootstrap'];

/**
 * Installs those of these packages that are missing, all at once. Does nothing where that is not possible: without Debian's
 * tools, or for anybody but root. Says on stderr what it does; a package that cannot be installed is named there.
 */
export function installPackages(names: readonly string[]): void {
  const missing = missingOf(names);
  if (missing.length === 0) return;
  console.error(`installing ${missing.join(' ')} with apt-get`);
  install(missing);
  const left = missingOf(missing);
  // A package that this release of Debian does not have must not keep the others away.
  if (left.length > 1) for (const name of left) install([name]);
  const failed = missingOf(left);
  if (failed.length > 0) console.error(`apt-get could not install ${failed.join(' ')}`);
}

function missingOf(names: readonly string[]): string[] {
  if (process.getuid?.() !== 0) return [];
  const format = '$' + '{db:Status-Status} $' + '{Package}\n';
  const { error, stdout } = spawnSync('dpkg-query', ['-W', '-f', format, ...names], { encoding: 'utf8' });
  if (error) return [];
  const installed = new Set(stdout.split('\n'));
  return names.filter((name) => !installed.has(`installed ${name}`));
}

/** A new machine has no list of packages. */
const script = `install() { apt-get install -y -qq --no-remove --no-install-recommends -o DPkg::Lock::Timeout=300 "$@"; }
install "$@" || { apt-get update -qq && install "$@"; }`;

/** One call at a time: an update may remove what another has just downloaded. */
function install(names: readonly string[]): void {
  const lock = join(tmpdir(), 'belfry-apt-get.lock');
  const { status, stdout, stderr } = spawnSync('flock', [lock, 'sh', '-c', script, 'sh', ...names], {
    encoding: 'utf8',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    timeout: 600_000,
  });
  if (status !== 0)
    console.error(`${stdout ?? ''}${stderr ?? ''}`.trimEnd().split('\n').slice(-3).join('\n'));
}
