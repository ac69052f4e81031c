/**
 * Runs benchmarks, each a script of its own, and stores their output in RESULTS.md with a description of the machine. `npm run
 * bench` runs all, `npm run bench -- intake fanout` only those named.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { benchFolder, machine } from './machine.ts';

interface Row {
  readonly about: string;
  /** Scripts and their arguments, in order. FOLDER stands for an empty folder of this run. */
  readonly steps: readonly (readonly [script: URL, ...args: string[]])[];
  /** The output is plain text instead of Markdown. */
  readonly plain?: boolean;
}

/** Published results use BENCH_ROWS=10000000, which takes a while to generate. */
const historyRows = process.env.BENCH_ROWS ?? '1000000';
const generator = new URL('./history-data.ts', import.meta.url);
const history = [generator, 'FOLDER/history.db', historyRows] as const;
/** A history generated earlier, to save time. */
const madeBefore = process.env.BENCH_HISTORY;
const million = [generator, 'FOLDER/million.db', '1000000'] as const;

/** A new benchmark is one script and one entry here. */
const rows: Record<string, Row> = {
  start: {
    about: 'from start to ready, and memory of an idle server',
    steps: [history, [new URL('./start.ts', import.meta.url), 'FOLDER/history.db', historyRows]],
  },
  intake: {
    about: 'durable intake against a bare Fastify echo',
    steps: [[new URL('./intake.ts', import.meta.url)]],
  },
  quiet: {
    about: 'one notification at a time, and what the machine takes of it by itself',
    steps: [[new URL('./quiet.ts', import.meta.url)]],
  },
  peers: {
    about: 'intake beside other services',
    steps: [[new URL('./peers.ts', import.meta.url)]],
  },
  nodes: {
    about: 'one to three nodes on PostgreSQL, and SQLite beside them',
    steps: [[new URL('./nodes.ts', import.meta.url)]],
  },
  migrate: {
    about: `belfry migrate with ${historyRows} notifications, both ways`,
    steps: [history, [new URL('./migrate.ts', import.meta.url), 'FOLDER/history.db']],
  },
  growth: {
    about: 'what history, panels, rules and tenants cost',
    steps: [history, [new URL('./growth.ts', import.meta.url), 'FOLDER/history.db', historyRows]],
  },
  mixed: {
    about: 'latency of intake at half of peak, alone and beside everything else',
    steps: [history, [new URL('./mixed.ts', import.meta.url), 'FOLDER/history.db', historyRows]],
  },
  phones: {
    about: '2,000 phones beside a wall of panels, and alone',
    steps: [[new URL('./phones.ts', import.meta.url)]],
  },
  neighbour: {
    about: 'intake of one tenant beside the most expensive payloads of another',
    steps: [[new URL('./neighbour.ts', import.meta.url)]],
  },
  fanout: {
    about: 'events to many panels, against nginx with nchan',
    steps: [[new URL('./fanout.ts', import.meta.url)]],
  },
  memory: {
    about: '10,000 idle panels, and 1,000 that read nothing',
    steps: [[new URL('./memory.ts', import.meta.url)]],
  },
  alarms: {
    about: 'what labels and alarms cost, the list of 5,000 open ones, and actions on many',
    steps: [[new URL('./alarms.ts', import.meta.url)]],
  },
  routing: {
    about: 'what a decision costs with 10 and with 10,000 rules',
    steps: [[new URL('./routing.ts', import.meta.url)]],
    plain: true,
  },
  search: {
    about: `a page of history for each filter, with ${historyRows} notifications`,
    steps: [history, [new URL('./search.ts', import.meta.url), 'FOLDER/history.db']],
    plain: true,
  },
  'search-postgres': {
    about: `the same on PostgreSQL, with ${historyRows} notifications`,
    steps: [history, [new URL('./search-postgres.ts', import.meta.url), 'FOLDER/history.db']],
    plain: true,
  },
  histogram: {
    about: `histograms and completion, with ${historyRows} notifications`,
    steps: [history, [new URL('./histogram.ts', import.meta.url), 'FOLDER/history.db']],
    plain: true,
  },
  'history-page': {
    about: 'the page of history in a browser, with a million notifications: scrolling, and a long live tail',
    steps: [million, [new URL('./history-page.ts', import.meta.url), 'FOLDER/million.db']],
    plain: true,
  },
  'wall-flood': {
    about: 'a wall in a browser while 500 alarms of 20 kinds arrive in 10 s: how smooth and how calm it is',
    steps: [[new URL('./wall-flood.ts', import.meta.url)]],
  },
  pages: {
    about: 'what a first look at a page costs',
    steps: [[new URL('./page-weight.ts', import.meta.url)]],
    plain: true,
  },
};

const results = new URL('./RESULTS.md', import.meta.url);

async function main(names: readonly string[]): Promise<number> {
  const unknown = names.filter((name) => !rows[name]);
  if (unknown.length > 0) {
    console.error(`bench: there is no row ${unknown.join(', ')}; there are ${Object.keys(rows).join(', ')}`);
    return 2;
  }
  let failed = 0;
  for (const name of names.length > 0 ? names : Object.keys(rows)) {
    const { about, plain } = rows[name] as Row;
    console.log(`\n## ${name}: ${about}\n`);
    const output = await runSteps(rows[name] as Row);
    if (output === undefined) failed += 1;
    else keep(name, [`## ${name}: ${about}`, machine(), plain ? `\`\`\`text\n${output}\n\`\`\`` : output]);
  }
  return failed === 0 ? 0 : 1;
}

/** The output of all steps; undefined when one of them failed. */
async function runSteps({ steps }: Row): Promise<string | undefined> {
  const folder = benchFolder();
  try {
    let output = '';
    for (const each of steps) {
      if (madeBefore && each === history) continue;
      const [script, ...args] = each;
      const step = await runScript(
        fileURLToPath(script),
        args.map((arg) => (madeBefore && arg === history[1] ? madeBefore : arg.replace('FOLDER', folder))),
      );
      if (step.code !== 0) return undefined;
      if (script !== generator) output += step.output;
    }
    return output.trim();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function runScript(path: string, args: readonly string[]): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', path, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    process.stdout.write(chunk);
  });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code: code ?? 1, output })));
}

/** Replaces the section of a benchmark. */
function keep(name: string, parts: readonly string[]): void {
  const before = existsSync(results) ? readFileSync(results, 'utf8') : '';
  const [title = '', ...sections] = before.split(/^(?=## )/m);
  const others = sections.filter((each) => !each.startsWith(`## ${name}:`));
  const order = Object.keys(rows);
  const place = (text: string) => order.indexOf(/^## ([\w-]+):/.exec(text)?.[1] ?? '');
  const all = [...others, parts.join('\n\n')]
    .sort((a, b) => place(a) - place(b))
    .map((each) => `${each.trim()}\n`);
  writeFileSync(results, [title.trim() || heading, ...all].join('\n\n').replace(/\n{3,}/g, '\n\n'));
}

const heading = `# Results

Written by \`npm run bench\`. Machines are shared and noisy: what counts are the ratios, whose two sides were measured in
the same run, alternating. Each figure is the median of its rounds with the least and the greatest.`;

process.exitCode = await main(process.argv.slice(2));
