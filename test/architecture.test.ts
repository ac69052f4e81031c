import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkArchitecture } from './support/architecture-rules.ts';
import { scanModule } from './support/module-scanner.ts';

const root = join(import.meta.dirname, '..');

/** What the given files break, by path. */
function broken(files: Record<string, string>): readonly string[] {
  return checkArchitecture(Object.entries(files).map(([path, text]) => ({ path, text }))).violations;
}

describe('the source', () => {
  const files = globSync('src/**/*.{ts,tsx,mts,cts,js,jsx,mjs,cjs,sql}', { cwd: root })
    .filter((path) => statSync(join(root, path)).isFile())
    .map((path) => ({ path: path.replaceAll('\\', '/'), text: readFileSync(join(root, path), 'utf8') }));
  const findings = checkArchitecture(files);

  test('was found and read: an empty scan would hold every rule', () => {
    expect(findings.files).toBeGreaterThan(60);
    expect(findings.imports).toBeGreaterThan(200);
  });

  test('keeps the rules of the house', () => {
    expect(findings.violations).toEqual([]);
  });
});

describe('an import', () => {
  const imported = (source: string) => scanModule(source).imports.map(({ specifier }) => specifier);

  test.each([
    ['a plain one', `import { a } from './a.ts';`],
    ['one over several lines', `import {\n  a,\n  type B as C, // from './no.ts'\n} from\n  './a.ts';`],
    ['a type', `import type { A } from './a.ts';`],
    ['a default and a namespace', `import a, * as b from "./a.ts";`],
    ['one without spaces', `import{a}from'./a.ts';`],
    ['one for its effect', `import './a.ts';`],
    ['an export from', `export { a as b } from './a.ts';`],
    ['an export of a type', `export type { A } from './a.ts';`],
    ['an export of everything', `export * from './a.ts';`],
    ['an export of everything under a name', `export * as a from './a.ts';`],
    ['a dynamic one', `const a = await import('./a.ts');`],
    ['a dynamic one over several lines', `import(\n  /* why */ './a.ts'\n)`],
    ['the type of a dynamic one', `type A = import('./a.ts').A;`],
    ['one with attributes', `import a from './a.ts' with { type: 'json' };`],
    ['a required one', `const a = require('./a.ts');`],
    ['a worker', `new Worker(new URL('./a.ts', import.meta.url));`],
    ['one inside a template', `const t = \`a \${await import("./a.ts")} b\`;`],
    ['one after a regular expression with a quote', `const r = /['"]/; import './a.ts';`],
    ['one after a comment with a quote', `// don't\nimport './a.ts';`],
  ])('is seen: %s', (_, source) => {
    expect(imported(source)).toEqual(['./a.ts']);
  });

  test.each([
    ['a comment', `// import './a.ts';\n/* export * from './a.ts' */`],
    ['a string', `const s = "import './a.ts'";`],
    ['a template', "const s = `import './a.ts'`;"],
    ['import.meta', `const d = import.meta.dirname;`],
    ['an export of its own', `export { a };\nconst from = './a.ts';`],
  ])('is not seen in %s', (_, source) => {
    expect(imported(source)).toEqual([]);
  });

  test('that is computed is refused', () => {
    expect(broken({ 'src/core/a.ts': 'await import(name);' })).toEqual([
      expect.stringContaining('src/core/a.ts:1: a computed import'),
    ]);
  });
});

describe('the import table', () => {
  test.each([
    ['src/contract/a.ts', '../core/b.ts'],
    ['src/core/a.ts', '../storage/sqlite/b.ts'],
    ['src/core/a.ts', '../http/b.ts'],
    ['src/storage/sqlite/a.ts', '../../http/b.ts'],
    ['src/storage/sqlite/a.ts', '../../settings/config.ts'],
    ['src/http/a.ts', '../storage/b.ts'],
    ['src/http/a.ts', '../bus/b.ts'],
    ['src/http/a.ts', '../settings/config.ts'],
    ['src/http/a.ts', '../server/app.ts'],
    ['src/client/a.ts', '../core/b.ts'],
    ['src/cli/a.ts', '../core/b.ts'],
    ['src/cli/a.ts', '../settings/config.ts'],
    ['src/cli/a.ts', '../server/services.ts'],
    ['src/server/a.ts', '../cli/b.ts'],
    ['src/server/a.ts', '../../package-lock.json'],
    ['src/settings/a.ts', '../server/b.ts'],
    ['src/web/panel/a.tsx', '#core/b.ts'],
    ['src/core/a.ts', '#test/support/b.ts'],
    ['src/http/a.ts', '#server/app.ts'],
    ['src/http/a.ts', '#core/../storage/b.ts'],
    ['src/core/a.ts', '../../test/support/b.ts'],
    ['src/core/a.test.ts', '../http/b.ts'],
    ['src/core/a.ts', 'node:fs'],
    ['src/core/a.ts', 'fastify'],
    ['src/contract/a.ts', 'node:crypto'],
    ['src/client/a.ts', 'node:http'],
    ['src/http/a.ts', 'belfry/client'],
    ['src/http/a.ts', 'node:process'],
  ])('refuses that %s imports %s, in every form', (path, specifier) => {
    for (const text of [
      `import { b } from '${specifier}';`,
      `import type { B } from '${specifier}';`,
      `export * from '${specifier}';`,
      `await import('${specifier}');`,
    ]) {
      expect(broken({ [path]: text })).toHaveLength(1);
    }
  });

  test.each([
    ['src/contract/a.ts', 'typebox'],
    ['src/core/a.ts', '../contract/b.ts'],
    ['src/core/a.ts', '#contract/b.ts'],
    ['src/core/a.test.ts', '#test/support/b.ts'],
    ['src/core/a.ts', 'node:crypto'],
    ['src/core/a.test.ts', 'vitest'],
    ['src/core/a.test.ts', '../../test/support/b.ts'],
    ['src/storage/sqlite/a.ts', '../schema.ts'],
    ['src/storage/sqlite/a.ts', '../../core/b.ts'],
    ['src/http/a.ts', 'fastify'],
    ['src/cli/a.ts', '#server/app.ts'],
    ['src/cli/a.ts', '../client/b.ts'],
    ['src/server/app.ts', '#storage/sqlite/b.ts'],
    ['src/server/version.ts', '../../package.json'],
    ['src/main.ts', './cli/b.ts'],
  ])('allows that %s imports %s', (path, specifier) => {
    expect(broken({ [path]: `import { b } from '${specifier}';` })).toEqual([]);
  });

  test('lets core take from the network module what does no I/O', () => {
    expect(broken({ 'src/core/a.ts': `import { type BlockList, isIP } from 'node:net';` })).toEqual([]);
    expect(broken({ 'src/core/a.ts': `import { isIP, connect } from 'node:net';` })).toHaveLength(1);
    expect(broken({ 'src/core/a.ts': `import * as net from 'node:net';` })).toHaveLength(1);
  });

  test('refuses that files import each other, be it for types', () => {
    const round = (last: string) => ({
      'src/core/a.ts': `import { b } from './routing/b.ts';`,
      'src/core/routing/b.ts': `import type { C } from '../c.ts';`,
      'src/core/c.ts': last,
    });
    expect(broken(round(`const a = await import('./a.ts');`))).toEqual([
      expect.stringContaining('src/core/routing/b.ts -> src/core/c.ts -> src/core/a.ts'),
    ]);
    expect(broken(round(`import { a } from '#core/a.ts';`))).toHaveLength(1);
    expect(broken(round(`import { d } from './d.ts';`))).toEqual([]);
  });

  test('refuses a folder that it does not list', () => {
    expect(broken({ 'src/plugins/a.ts': '' })).toEqual([expect.stringContaining('"plugins"')]);
  });
});

describe('a folder', () => {
  const folder = (files: number, name: string) =>
    Object.fromEntries(Array.from({ length: files }, (_, n) => [`src/core/${n}${name}`, '']));

  test('holds at most 20 files, tests not counted', () => {
    expect(broken(folder(21, '.ts'))).toEqual([expect.stringContaining('src/core: 21 files')]);
    expect(broken({ ...folder(20, '.ts'), ...folder(5, '.test.ts') })).toEqual([]);
  });
});

describe('a file', () => {
  test('has at most 500 lines, unless it is a test', () => {
    const lines = (count: number) => 'const a = 1;\n'.repeat(count);
    expect(broken({ 'src/core/a.ts': lines(500) })).toEqual([]);
    expect(broken({ 'src/core/a.ts': lines(501) })).toEqual([expect.stringContaining('501 lines')]);
    expect(broken({ 'src/core/a.test.ts': lines(501) })).toEqual([]);
  });

  test('has no default export', () => {
    expect(broken({ 'src/core/a.ts': 'export default 1;' })).toHaveLength(1);
    expect(broken({ 'src/core/a.ts': 'const a = 1;\nexport { a as default };' })).toHaveLength(1);
    expect(broken({ 'src/core/a.ts': `const a = 'export default';` })).toEqual([]);
  });

  test.each(['index', 'utils', 'helpers', 'common', 'types'])('is not called %s', (name) => {
    expect(broken({ [`src/http/${name}.ts`]: '' })).toHaveLength(1);
  });

  test('does not look at the environment', () => {
    expect(broken({ 'src/http/a.ts': 'const a = process.env.A;' })).toHaveLength(1);
    expect(broken({ 'src/settings/config.ts': `const a = process['env'];` })).toHaveLength(1);
    expect(broken({ 'src/main.ts': 'run(process.env);' })).toEqual([]);
  });

  test('does no I/O through globals in core and contract', () => {
    expect(broken({ 'src/core/a.ts': 'console.log(1);' })).toHaveLength(1);
    expect(broken({ 'src/contract/a.ts': 'await fetch(url);' })).toHaveLength(1);
    expect(broken({ 'src/core/a.ts': 'this.fetch(url); // console.log' })).toEqual([]);
  });
});
