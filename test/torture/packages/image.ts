/**
 * Builds deploy/Dockerfile without a container engine, and runs the image without its own privileges: buildah in a storage
 * of its own, and a chroot whose root file system is read-only.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '#test/support/server-process.ts';
import { missingPackage, runs } from '#test/support/skip-reason.ts';

const baseImage = /^FROM (\S+)/m.exec(readFileSync(join(root, 'deploy/Dockerfile'), 'utf8'))?.[1] ?? '';

interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly Volumes: Readonly<Record<string, object>>;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

/** Why no image can be built here; undefined when one can. Root installs Debian's buildah and debootstrap. */
export function missingBuilder(): string | undefined {
  if (process.getuid?.() !== 0) return 'an image is built and run by root here: run this as root';
  return (
    missingPackage('buildah', () => runs(['--version'], 'buildah')) ??
    missingPackage('debootstrap', () => runs(['--version'], 'debootstrap'))
  );
}

export class Image {
  readonly config: ImageConfig;
  readonly #files: string;
  readonly #data: string;

  private constructor(config: ImageConfig, files: string, data: string) {
    this.config = config;
    this.#files = files;
    this.#data = data;
  }

  /** Builds in `folder`, which takes some minutes. */
  static build(folder: string): Image {
    const storage = ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run')];
    const buildah = (...args: string[]) =>
      execFileSync('buildah', [...storage, '--storage-driver', 'vfs', ...args], {
        cwd: root,
        encoding: 'utf8',
        env: { ...process.env, BUILDAH_ISOLATION: 'chroot' },
        stdio: ['ignore', 'pipe', 'inherit'],
        maxBuffer: 2 ** 28,
      }).trim();
    const base = buildah('from', 'scratch');
    buildah('add', '--quiet', base, makeBase(join(folder, 'base')), '/');
    buildah('config', '--env', 'PATH=/usr/local/bin:/usr/bin:/bin', base);
    buildah('commit', '--quiet', '--rm', base, baseImage);
    const dockerfile = ['--file', 'deploy/Dockerfile', '--tag', 'belfry', root];
    buildah('build', '--quiet', '--format', 'docker', '--pull-never', ...dockerfile);
    const { Docker } = JSON.parse(buildah('inspect', '--type', 'image', 'belfry')) as {
      Docker: { config: ImageConfig };
    };
    const files = buildah('mount', buildah('from', '--pull-never', 'belfry'));
    const data = join(folder, 'data');
    // As an engine makes a new volume: a copy of what the image has at its place, owner and permissions included.
    execFileSync('cp', ['-a', join(files, 'data'), data]);
    return new Image(Docker.config, files, data);
  }

  /** The command that runs `args` in the image; it ends up as that process. */
  command(args: readonly string[], settings: Readonly<Record<string, string>> = {}): string[] {
    const script = `
      mount --make-rprivate / && mount --bind "$1" "$1" && mount -t proc proc "$1/proc" &&
      mount --bind /dev "$1/dev" && mount --bind "$2" "$1/data" && mount -o remount,bind,ro "$1" || exit 70
      files=$1 user=$3; shift 3
      exec setpriv --no-new-privs chroot --userspec="$user" "$files" /usr/bin/env -i "$@"`;
    const env = [...this.config.Env, ...Object.entries(settings).map(([name, value]) => `${name}=${value}`)];
    const { User } = this.config;
    return ['unshare', '--mount', 'sh', '-c', script, 'sh', this.#files, this.#data, User, ...env, ...args];
  }

  run(args: readonly string[], settings?: Readonly<Record<string, string>>) {
    const [command = '', ...rest] = this.command(args, settings);
    return spawnSync(command, rest, { encoding: 'utf8' });
  }
}

/** Debian with the Node that runs this test, and with npm and its settings as this machine has them. */
function makeBase(folder: string): string {
  execFileSync('debootstrap', ['--variant=minbase', 'bookworm', folder], { stdio: ['ignore', 2, 2] });
  const local = join(folder, 'usr/local');
  cpSync(process.execPath, join(local, 'bin/node'));
  const which = execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim();
  const npm = dirname(dirname(realpathSync(which)));
  cpSync(npm, join(local, 'lib/node_modules/npm'), { recursive: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm'));
  // Certificates that this machine trusts beside the usual ones, and the registry that it uses.
  const certificates = '/etc/ssl/certs/ca-certificates.crt';
  const registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim();
  for (const path of [join(local, 'etc'), dirname(join(folder, certificates))])
    mkdirSync(path, { recursive: true });
  if (existsSync(certificates)) cpSync(certificates, join(folder, certificates), { dereference: true });
  const trusted = existsSync(certificates) ? `cafile=${certificates}\n` : '';
  writeFileSync(join(local, 'etc/npmrc'), `registry=${registry}\n${trusted}`);
  return folder;
}
