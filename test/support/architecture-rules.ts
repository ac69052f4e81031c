/** The architecture rules, as a function from source files to violations. */
import { posix } from 'node:path';
import { type ImportFound, scanModule } from './module-scanner.ts';

export interface SourceFile {
  /** From the checkout's root, with forward slashes, as in src/core/intake/intake.ts. */
  readonly path: string;
  readonly text: string;
}

export interface Findings {
  readonly violations: readonly string[];
  readonly files: number;
  readonly imports: number;
}

/** What of src a folder may import, beside itself: folders, or single files. An allow-list: everything else is forbidden. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  core: ['contract'],
  storage: ['core', 'contract'],
  bus: ['core', 'contract'],
  http: ['core', 'contract', 'integrations'],
  accounts: ['core', 'contract', 'outbound'],
  channels: ['core', 'contract', 'outbound'],
  calendars: ['core', 'contract', 'outbound'],
  outbound: ['core', 'contract'],
  settings: ['core'],
  integrations: ['core', 'contract'],
  listeners: ['core', 'contract', 'integrations', 'outbound'],
  client: ['contract'],
  server: [
    'accounts',
    'bus',
    'calendars',
    'channels',
    'core',
    'contract',
    'http',
    'integrations',
    'listeners',
    'outbound',
    'settings',
    'storage',
  ],
  cli: ['client', 'contract', 'server/app.ts'],
  web: ['client', 'contract'],
};

/** What a folder may name outside src: the manifest, and the pages that were built. */
const outsideSource: Readonly<Record<string, readonly string[]>> = {
  server: ['package.json', 'dist/web/', 'dist/docs/'],
};

/** Node modules and packages without I/O, for folders without I/O; `*` allows every name of a module. */
const pure: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  contract: { typebox: ['*'] },
  core: {
    croner: ['*'],
    'ipaddr.js': ['*'],
    'lru-cache': ['*'],
    'prom-client': ['*'],
    re2js: ['*'],
    uuidv7: ['*'],
    'node:buffer': ['*'],
    'node:crypto': ['*'],
    'node:net': ['isIP', 'isIPv4', 'isIPv6', 'BlockList'],
    'node:timers/promises': ['setTimeout', 'setImmediate'],
    'node:zlib': ['crc32'],
  },
};

/** Folders that also run in a browser. */
const inBrowser = ['contract', 'client', 'web'];
const forTests = ['vitest', 'fast-check'];
const vagueNames = ['index', 'utils', 'util', 'helpers', 'helper', 'common', 'types', 'misc'];
const longestFile = 500;
/** Scripts in one folder, without tests. A folder of alternatives, as of formats, may need them all. */
const mostFiles = 20;

/** All violations in the given files under src, as `path:line: what and why`. */
export function checkArchitecture(files: readonly SourceFile[]): Findings {
  const violations: string[] = [];
  const importsOf = new Map<string, string[]>();
  let imports = 0;
  for (const file of files) {
    const scan = isScript(file.path) ? scanModule(file.text) : { imports: [], code: '' };
    imports += scan.imports.length;
    importsOf.set(
      file.path,
      scan.imports.flatMap(({ specifier }) =>
        specifier === undefined ? [] : (targetOf(file.path, specifier) ?? []),
      ),
    );
    violations.push(...checkFile(file), ...checkCode(file, scan.code));
    for (const found of scan.imports) {
      const why = importProblem(file.path, found);
      if (why !== undefined) violations.push(`${file.path}:${found.line}: ${why}`);
    }
  }
  violations.push(...crowded(files));
  for (const [first = '', ...rest] of findCycles(importsOf)) {
    violations.push(
      `${first}: imports itself by way of ${rest.join(' -> ')}; move what both need to a third file`,
    );
  }
  return { violations, files: files.length, imports };
}

const isScript = (path: string) => /\.[cm]?[jt]sx?$/.test(path);
const isTest = (path: string) => /\.test\.[jt]sx?$/.test(path);

/** The folder of src that a path lies in; undefined for the files of src itself. */
function folderOf(path: string): string | undefined {
  const [, folder, ...rest] = path.split('/');
  return rest.length > 0 ? folder : undefined;
}

function checkFile({ path, text }: SourceFile): string[] {
  const problems: string[] = [];
  const folder = folderOf(path);
  if (folder !== undefined && !Object.hasOwn(mayImport, folder)) {
    problems.push(
      `${path}: the folder "${folder}" is not in the import table; name what it may import first`,
    );
  }
  const stem = posix.basename(path).split('.')[0] ?? '';
  if (isScript(path) && vagueNames.includes(stem)) {
    problems.push(`${path}: "${stem}" says nothing about what is inside; name the concept`);
  }
  const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
  // A migration is one script, however many tables it makes.
  if (lines > longestFile && !isTest(path) && !path.endsWith('.sql')) {
    problems.push(`${path}: ${lines} lines, and ${longestFile} are allowed; find the second concept in it`);
  }
  return problems;
}

function crowded(files: readonly SourceFile[]): string[] {
  const scripts = files.filter(({ path }) => isScript(path) && !isTest(path));
  const folders = Map.groupBy(scripts, ({ path }) => posix.dirname(path));
  return [...folders].flatMap(([folder, inside]) =>
    inside.length > mostFiles
      ? [
          `${folder}: ${inside.length} files, and ${mostFiles} are allowed; give those of one concept a folder`,
        ]
      : [],
  );
}

function checkCode({ path }: SourceFile, code: string): string[] {
  const problems: string[] = [];
  const refuse = (pattern: RegExp, why: string) => {
    const at = code.search(pattern);
    if (at >= 0) problems.push(`${path}:${code.slice(0, at).split('\n').length}: ${why}`);
  };
  if (!/\.(?:config\.[jt]s|d\.ts)$/.test(path)) {
    refuse(/\bexport\s+default\b|\bexport\s*\{[^}]*\bas\s+default\b/, 'a default export; exports have names');
  }
  if (path !== 'src/main.ts' && !isTest(path)) {
    refuse(
      /\bprocess\s*\??\.\s*env\b|\bprocess\s*\[/,
      'the environment is read by src/settings/ alone, given by src/main.ts',
    );
  }
  if (Object.hasOwn(pure, folderOf(path) ?? '') && !isTest(path)) {
    refuse(/(?<![.\w$])(?:process|console)\s*\.|(?<![.\w$])fetch\s*\(/, 'this folder does no I/O');
  }
  return problems;
}

function importProblem(path: string, { specifier, names }: ImportFound): string | undefined {
  const folder = folderOf(path);
  if (specifier === undefined) return 'a computed import, which no table can hold; name the module';
  const target = targetOf(path, specifier);
  if (target !== undefined) return ownProblem(path, folder, target);
  if (specifier.startsWith('/') || specifier.startsWith('file:'))
    return `imports ${specifier} by an absolute path`;
  if (folder === undefined) return path === 'src/main.ts' ? undefined : processProblem(specifier);
  return packageProblem(folder, isTest(path), specifier, names) ?? processProblem(specifier);
}

/** The source file that an import names, by path or by an alias of package.json; undefined for a package. */
function targetOf(path: string, specifier: string): string | undefined {
  const alias = /^#(?<top>test\/|bench\/|scripts\/)?(?<rest>.*)$/.exec(specifier)?.groups;
  if (alias) return posix.normalize(`${alias.top ?? 'src/'}${alias.rest}`);
  if (/^\.{1,2}(?:\/|$)/.test(specifier)) return posix.join(posix.dirname(path), specifier);
  return undefined;
}

function ownProblem(path: string, folder: string | undefined, target: string): string | undefined {
  if (folder === undefined) return undefined;
  if (isTest(path) && target.startsWith('test/support/')) return undefined;
  if (!target.startsWith('src/'))
    return outsideSource[folder]?.includes(target) ? undefined : `imports ${target}, which lies outside src`;
  const owner = folderOf(target);
  const allowed = mayImport[folder] ?? [];
  if (owner === folder || allowed.some((one) => one === owner || target === `src/${one}`)) return undefined;
  return `${folder} imports ${target}; it may import only ${[...allowed, 'itself'].join(', ')}`;
}

function packageProblem(folder: string, test: boolean, specifier: string, names: readonly string[]) {
  if (/^belfry(?:\/|$)/.test(specifier))
    return `imports ${specifier}; use a relative path or an alias (#core/…)`;
  if (test && (forTests.includes(specifier) || specifier.startsWith('node:'))) return undefined;
  const allowed = pure[folder];
  if (allowed) {
    const allowedNames = Object.hasOwn(allowed, specifier) ? (allowed[specifier] ?? []) : undefined;
    if (!allowedNames)
      return `${folder} imports ${specifier}, which is not on its list of modules without I/O`;
    const extra = allowedNames.includes('*') ? [] : names.filter((name) => !allowedNames.includes(name));
    if (extra.length > 0)
      return `${folder} takes ${extra.join(', ')} of ${specifier}, and may take ${allowedNames.join(', ')}`;
  }
  if (inBrowser.includes(folder) && specifier.startsWith('node:')) {
    return `${folder} imports ${specifier}, and runs in a browser too`;
  }
  return undefined;
}

function processProblem(specifier: string): string | undefined {
  return /^(?:node:)?process$/.test(specifier)
    ? 'imports process, which only src/main.ts hands on'
    : undefined;
}

/** The cycles in a graph of imports, each once, as a path that ends at its start. */
export function findCycles(importsOf: ReadonlyMap<string, readonly string[]>): readonly string[][] {
  const cycles: string[][] = [];
  const done = new Set<string>();
  const walk = (file: string, way: readonly string[]) => {
    const back = way.indexOf(file);
    if (back >= 0) cycles.push([...way.slice(back), file]);
    if (back >= 0 || done.has(file)) return;
    for (const next of importsOf.get(file) ?? []) walk(next, [...way, file]);
    done.add(file);
  };
  for (const file of importsOf.keys()) walk(file, []);
  return cycles;
}
