/** Prometheus' text exposition, read strictly. */

export interface Family {
  readonly type: string;
  readonly help: string;
  /** `name{a="b"}` with labels in order of name, and its value. */
  readonly samples: Map<string, number>;
}

const sampleLine = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (-?(?:[0-9.]+(?:e[+-]?[0-9]+)?|Inf|NaN)|\+Inf)$/;
const label = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)/y;
/** What follows a family's name in its samples, by type. */
const suffixes: Record<string, readonly string[]> = {
  counter: [''],
  gauge: [''],
  histogram: ['_bucket', '_sum', '_count'],
  summary: ['', '_sum', '_count'],
};
const openSuffixes: Record<string, readonly string[]> = { ...suffixes, counter: ['_total'] };

/**
 * @throws Error for a line that is none, a sample outside its family, a family told twice, and for OpenMetrics a missing
 * end.
 */
export function readExposition(text: string, { openMetrics = false } = {}): Map<string, Family> {
  const families = new Map<string, Family>();
  const lines = text.split('\n');
  if (lines.pop() !== '') throw new Error('the last line has no line break');
  if (openMetrics && lines.pop() !== '# EOF') throw new Error('OpenMetrics ends with # EOF');
  let current = '';
  let help = '';
  for (const line of lines) {
    if (line === '' && !openMetrics) continue;
    const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/.exec(line) ?? [];
    if (kind === 'HELP') {
      help = rest;
    } else if (kind === 'TYPE') {
      if (families.has(name)) throw new Error(`${name} is told twice`);
      if (!(rest in suffixes)) throw new Error(`${name} is of type ${rest}`);
      families.set(name, { type: rest, help, samples: new Map() });
      current = name;
    } else {
      addSample(line, current, families.get(current), openMetrics ? openSuffixes : suffixes);
    }
  }
  return families;
}

function addSample(line: string, name: string, family: Family | undefined, allowed: typeof suffixes): void {
  const [, sample = '', labels = '', value] = sampleLine.exec(line) ?? [];
  if (value === undefined || !family) throw new Error(`no sample: ${line}`);
  if (!allowed[family.type]?.some((suffix) => sample === name + suffix))
    throw new Error(`${sample} is not of the ${family.type} ${name}`);
  const pairs: string[] = [];
  label.lastIndex = 0;
  while (label.lastIndex < labels.length) {
    const pair = label.exec(labels);
    if (!pair) throw new Error(`no labels: ${line}`);
    pairs.push(`${pair[1]}="${pair[2]}"`);
  }
  const key = pairs.length === 0 ? sample : `${sample}{${pairs.toSorted().join(',')}}`;
  if (family.samples.has(key)) throw new Error(`${key} is told twice`);
  family.samples.set(key, value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value));
}

/** All samples of all families. */
export function samplesOf(families: ReadonlyMap<string, Family>): Record<string, number> {
  return Object.fromEntries([...families.values()].flatMap(({ samples }) => [...samples]));
}
