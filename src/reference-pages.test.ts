/** The pages of the documentation that repeat what the program says of itself. `npx vitest run -u FILE` writes the command line's. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FakeIo } from '#test/support/fake-io.ts';
import { run } from './cli/run.ts';
import { readConfig } from './settings/config.ts';

const docs = join(import.meta.dirname, '../docs');

async function help(...path: string[]): Promise<string> {
  const io = new FakeIo({ terminal: { columns: 100, rows: 40 } });
  expect(await run([...path, '--help'], io)).toBe(0);
  return io.out.trim();
}

/** The names under `Commands:`. */
const commandsIn = (text: string): string[] =>
  Array.from(
    (/^Commands:\n((?: {2}.*\n?)+)/m.exec(text)?.[1] ?? '').matchAll(/^ {2}(\w[\w-]*)/gm),
    ([, name = '']) => name,
  ).filter((name) => name !== 'help');

async function chapters(path: readonly string[]): Promise<string[]> {
  const text = await help(...path);
  const level = '#'.repeat(path.length + 1);
  const own = `${level} belfry ${path.join(' ')}\n\n\`\`\`text\n${text}\n\`\`\`\n`;
  const below = await Promise.all(commandsIn(text).map((name) => chapters([...path, name])));
  return [own, ...below.flat()];
}

test('the page of the command line is what each command says of itself', async () => {
  const all = await help();
  const commands = commandsIn(all);
  expect(commands.length).toBeGreaterThan(10);
  const found = await Promise.all(commands.map((name) => chapters([name])));
  const page = `# Command line

\`belfry\` stands for \`npm run --silent belfry --\` in a checkout, for \`belfry\` under [systemd](operations.md), for \`npx belfry\` with the package, and for \`docker exec belfry belfry\` with a container. \`send\`, \`run\`, \`tail\`, \`alarms\`, \`ack\`,
\`unack\`, \`shelve\`, \`unshelve\`, \`clear\` and \`panel\` talk to the server at \`BELFRY_URL\` with \`BELFRY_TOKEN\`, and so do \`export\`, \`diff\` and \`apply\` if \`BELFRY_TOKEN\` is set. All others open the database at \`BELFRY_DATABASE_URL\`
themselves, whether the server runs or not.
The exit code is 0 for success, 1 for a failure, and 2 for wrong usage or configuration.

\`\`\`text
${all}
\`\`\`

${found.flat().join('\n')}`;
  await expect(page).toMatchFileSnapshot(join(docs, 'command-line.md'));
});

test('the page of the configuration has each setting, with its default and its meaning', () => {
  const page = readFileSync(join(docs, 'configuration.md'), 'utf8');
  const rows = Array.from(page.matchAll(/^\| `((?:BELFRY|OTEL)_\w+)`.*$/gm), ([row]) => row);
  const wanted = readConfig({}).effective.map(
    ({ name, text, about }) => `| \`${name}\` | ${text && `\`${text}\``} | ${about} |`,
  );
  expect(rows.toSorted()).toEqual(wanted.toSorted());
});
