/** What is built into dist/ from the sources: the pages, the documentation, the server and the client of the package; each when it is not what they say. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { runQuietly } from './child.mjs';
import { withLock } from './lock.mjs';
import { SetupError } from './setup-error.mjs';

/** @typedef {'pages' | 'server' | 'docs' | 'client'} Product */
/** @typedef {{ folder: string, config: string, sources: string[], except?: string }} Recipe */

/**
 * Sources are all that it can be made of, without tests.
 * @type {Record<Product, Recipe>}
 */
const RECIPES = {
  pages: {
    folder: 'web',
    config: 'vite.config.ts',
    sources: ['src/web', 'src/client', 'src/contract', 'scripts/compressed-files.ts', 'package-lock.json'],
    except: 'src/web/docs',
  },
  docs: {
    folder: 'docs',
    config: 'vite.docs.config.ts',
    sources: [
      'docs',
      'deploy',
      'examples',
      'src/web/docs',
      'src/web/tokens.css',
      'src/web/icon.svg',
      'scripts/compressed-files.ts',
      'scripts/docs-html.ts',
      'scripts/docs-markdown.ts',
      'scripts/docs-navigation.ts',
      'scripts/docs-site.ts',
      ...['ARCHITECTURE', 'CHANGELOG', 'CONTRIBUTING', 'GLOSSARY', 'SECURITY', 'bench/RESULTS'].map(
        (name) => `${name}.md`,
      ),
      'package-lock.json',
    ],
    except: 'deploy/secrets',
  },
  client: {
    folder: 'client',
    config: 'vite.client.config.ts',
    sources: ['src/client', 'src/contract', 'scripts/client-types.ts', 'package-lock.json'],
  },
  server: {
    folder: 'server',
    config: 'vite.server.config.ts',
    sources: ['src', 'scripts/manual-page.ts', 'package.json', 'package-lock.json'],
    except: 'src/web',
  },
};

/**
 * Makes a product fit its sources. Costs reading them when it does.
 * @param {Product} product
 * @param {string} root
 * @param {string} node
 * @param {NodeJS.ProcessEnv} env
 */
export async function ensureBuilt(product, root, node, env) {
  const { folder, config, sources, except } = RECIPES[product];
  if (!existsSync(join(root, config))) return;
  const commit = folder === 'server' ? commitOf(root, env) : '';
  const wanted = fingerprint(root, [...sources, config], except);
  const built = () => {
    const [ofSources, ofCommit = ''] = readText(join(root, 'dist', folder, '.built'))?.split(/\s+/) ?? [];
    // A user who may not read the repository knows no commit.
    return ofSources === wanted && (commit === '' || commit === ofCommit);
  };
  if (built()) return;
  await withLock(root, async (onStart) => {
    if (built()) return;
    process.stderr.write(`belfry: building the ${product} …\n`);
    const fresh = join(root, 'dist', `.${folder}-${process.pid}`);
    const vite = join('node_modules', 'vite', 'bin', 'vite.js');
    const { code, output } = await runQuietly(
      node,
      [vite, 'build', '--config', config, '--logLevel', 'warn', '--outDir', fresh],
      // A build begun by the tests is the same as any other: not React's slower one for development.
      { cwd: root, env: { ...env, NODE_ENV: 'production', BUILD_COMMIT: commit }, onStart },
    );
    if (code !== 0) {
      rmSync(fresh, { recursive: true, force: true });
      throw new SetupError(
        `building the ${product} failed; vite said:\n${output.trimEnd()}`,
        'mend the cause above, then run the same command again',
      );
    }
    writeFileSync(join(fresh, '.built'), `${wanted} ${commit}\n`);
    swap(join(root, 'dist', folder), fresh);
  });
}

/**
 * A server that is running meanwhile misses the pages for a moment at most.
 * @param {string} folder
 * @param {string} fresh
 */
function swap(folder, fresh) {
  const old = `${fresh}-old`;
  mkdirSync(join(folder, '..'), { recursive: true });
  if (existsSync(folder)) renameSync(folder, old);
  renameSync(fresh, folder);
  rmSync(old, { recursive: true, force: true });
}

/**
 * The commit of a checkout, with "-changed" if sources of the server differ from it. Where there is no git, as in a container, the
 * variable BUILD_COMMIT names it; otherwise it is empty.
 * @param {string} root
 * @param {NodeJS.ProcessEnv} env
 */
function commitOf(root, env) {
  if (env.BUILD_COMMIT) return env.BUILD_COMMIT;
  /** @param {string[]} args */
  const git = (...args) => spawnSync('git', args, { cwd: root, env, encoding: 'utf8' });
  // A folder without a repository of its own may be inside another one.
  const { status, stdout } = existsSync(join(root, '.git'))
    ? git('rev-parse', '--short=12', 'HEAD')
    : { status: 1, stdout: '' };
  if (status !== 0) return '';
  const isSame = git('diff', '--quiet', 'HEAD', '--', ...RECIPES.server.sources).status === 0;
  return `${stdout.trim()}${isSame ? '' : '-changed'}`;
}

/**
 * @param {string} root
 * @param {string[]} sources
 * @param {string | undefined} except
 */
function fingerprint(root, sources, except) {
  const hash = createHash('sha256');
  for (const path of sources.flatMap((source) => filesOf(root, source, except))) {
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(root, path)))
      .update('\0');
  }
  return hash.digest('hex');
}

/**
 * The files at or under `path`, in one order on every machine; tests are no part of a product.
 * @param {string} root
 * @param {string} path
 * @param {string} [except]
 * @returns {string[]}
 */
function filesOf(root, path, except) {
  if (path === except || /\.test\.ts$/.test(path) || !existsSync(join(root, path))) return [];
  if (!statSync(join(root, path)).isDirectory()) return [path];
  return readdirSync(join(root, path))
    .sort()
    .flatMap((name) => filesOf(root, `${path}/${name}`, except));
}

/** @param {string} path */
function readText(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
