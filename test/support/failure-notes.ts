/** Keeps what servers and commands print during a test, to show it at the end of the run if the test fails. */

/** The most lines kept of each source. */
const mostLines = 30;
const mostSources = 20;

interface Source {
  readonly name: string;
  readonly lines: string[];
}

let sources: Source[] = [];

/** Returns a function that records the output of `name`. */
export function noteOutput(name: string): (text: string) => void {
  const source: Source = { name, lines: [] };
  sources.push(source);
  if (sources.length > mostSources) sources.shift();
  return (text) => {
    // A source of an earlier test may print again.
    if (!sources.includes(source)) sources.push(source);
    source.lines.push(...text.trimEnd().split('\n'));
    source.lines.splice(0, source.lines.length - mostLines);
  };
}

/** The output since the last call. */
export function takeNotes(): string {
  const notes = sources
    .filter(({ lines }) => lines.length > 0)
    .map(({ name, lines }) => [`${name}:`, ...lines.map((line) => `  ${line}`)].join('\n'));
  for (const { lines } of sources) lines.length = 0;
  sources = [];
  return notes.join('\n');
}
