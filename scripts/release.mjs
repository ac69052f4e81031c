/**
 * The steps of a release, from the root of a checkout: `node scripts/release.mjs prepare|check|tag VERSION`. docs/releasing.md explains them.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

/**
 * Where the version stands, besides package.json, its lock file and the CHANGELOG.
 * @type {[file: string, version: RegExp][]}
 */
const places = [
  ['deploy/helm/belfry/Chart.yaml', /(?<=^(?:version|appVersion): ).*$/gm],
  ['docs/operations.md', /(?<=\/belfry-)\d\S*(?=\.tgz)|(?<=\/belfry:)\d\S*/g],
  ['docs/panels.md', /(?<=`panel\/)\d[^`]*/g],
  ['README.md', /(?<=\/belfry-)\d\S*(?=\.tgz)/g],
];
/** @param {string} file */
const read = (file) => readFileSync(file, 'utf8');
/** @param {string[]} args */
const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).trim();

/** @param {string} version */
function prepare(version) {
  for (const file of ['package.json', 'package-lock.json']) {
    const manifest = JSON.parse(read(file));
    manifest.version = version;
    if (manifest.packages) manifest.packages[''].version = version;
    writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
  }
  for (const [file, place] of places) writeFileSync(file, read(file).replace(place, version));
  const changes = read('CHANGELOG.md');
  if (!changes.includes(`\n## [${version}]`)) {
    const today = new Date().toISOString().slice(0, 10);
    const heading = `## [Unreleased]\n\n## [${version}] - ${today}\n`;
    writeFileSync('CHANGELOG.md', changes.replace('## [Unreleased]\n', heading));
  }
}

/**
 * What is wrong with the checkout as the release of this version.
 * @param {string} version
 */
function problemsOf(version) {
  const lock = JSON.parse(read('package-lock.json'));
  const shown = execFileSync(process.execPath, ['src/main.ts', '--version'], { encoding: 'utf8' });
  /** @type {[place: string, found: string | undefined][]} */
  const versions = [
    ['package.json', JSON.parse(read('package.json')).version],
    ['package-lock.json', lock.version],
    ['packages[""] of package-lock.json', lock.packages[''].version],
    ['--version', /\d+\.\d+\.\d+\S*/.exec(shown)?.[0]],
  ];
  for (const [file, place] of places)
    for (const found of read(file).match(place) ?? [undefined]) versions.push([file, found]);
  const problems = versions
    .filter(([, found]) => found !== version)
    .map(([place, found]) => `${place} is ${found}, not ${version}`);
  const headings = read('CHANGELOG.md').split('\n');
  const heading = headings.find((line) => line.startsWith(`## [${version}]`));
  if (!/ - \d{4}-\d\d-\d\d$/.test(heading ?? ''))
    problems.push(`CHANGELOG.md has no heading "## [${version}] - YYYY-MM-DD"`);
  if (git('status', '--porcelain') !== '') problems.push('the work tree is not clean: commit the changes');
  const tagged = git('tag', '--list', `v${version}`) && git('rev-parse', `v${version}^{commit}`);
  if (tagged && tagged !== git('rev-parse', 'HEAD')) problems.push(`the tag v${version} is another commit`);
  return problems;
}

const [step = '', version = ''] = process.argv.slice(2);
if (!['prepare', 'check', 'tag'].includes(step) || !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) {
  process.stderr.write('usage: node scripts/release.mjs prepare|check|tag VERSION, as in 1.2.3\n');
  process.exit(2);
}
if (step === 'prepare') prepare(version);
else {
  const problems = problemsOf(version);
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  if (problems.length > 0) process.exitCode = 1;
  else if (step === 'tag') git('tag', '--annotate', `v${version}`, '--message', `Belfry ${version}`);
}
