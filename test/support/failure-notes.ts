/** What servers and commands printed during a test: kept in memory, and shown at the end of the run when the test fails. */

/** As much of each as is likely to hold the reason. */
const mostLines = 30;
const mostSources = 20;

interface Source {
  readonly name: string;
  readonly lines: string[];
}

let sources: Source[] = [];

/** Notes what `name` prints; returns where to put its text. */
export function noteOutput(name: string): (text: string) => void {
  const source: Source = { name, lines: [] };
  sources.push(source);
  if (sources.length > mostSources) sources.shift();
  return (text) => {
    // A source that is older than this test is heard again.
    if (!sources.includes(source)) sources.push(source);
    source.lines.push(...text.trimEnd().split('\n'));
    source.lines.splice(0, source.lines.length - mostLines);
  };
}

/** What was printed since the last call. */
export function takeNotes(): string {
  const notes = sources
    .filter(({ lines }) => lines.length > 0)
    .map(({ name, lines }) => [`${name}:`, ...lines.map((line) => `  ${line}`)].join('\n'));
  for (const { lines } of sources) lines.length = 0;
  sources = [];
  return notes.join('\n');
}
