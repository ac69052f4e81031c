/** The settings of traces, under the names that OpenTelemetry gave them. */
import { httpUrl, InvalidSetting, label, type Reader } from './values.ts';
import { optional, optionalSecret, type SettingsOf, setting } from './variable.ts';

const share: Reader<number> = (text) => {
  const value = /^(?:\d+(?:\.\d+)?|\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  if (value >= 0 && value <= 1) return value;
  throw new InvalidSetting('must be a number from 0 to 1, as in 0.1');
};

/** `name=value,name=value`, values percent-encoded. */
const headerList: Reader<Readonly<Record<string, string>>> = (text) => {
  try {
    if (text.split(',').some((pair) => !pair.includes('='))) throw new Error('a pair without "="');
    const pairs = text
      .split(',')
      .map((pair) => pair.split(/=(.*)/s).map((part) => decodeURIComponent(part.trim())));
    return Object.fromEntries(
      new Headers(pairs.map(([name = '', value = '']): [string, string] => [name, value])),
    );
  } catch {
    throw new InvalidSetting('must be names and values of headers, as in name=value,name=value');
  }
};

export const tracingVariables = {
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(
    httpUrl,
    'OpenTelemetry collector that gets traces, as OTLP over HTTP in JSON; without it there are no traces',
  ),
  OTEL_EXPORTER_OTLP_HEADERS: optionalSecret(
    headerList,
    'headers of each request to the collector, as in name=value,name=value',
  ),
  OTEL_SERVICE_NAME: setting('belfry', label, 'name of this server in traces'),
  OTEL_TRACES_SAMPLER_ARG: setting(
    '1',
    share,
    'share of the traces that begin here and are sent, from 0 to 1',
  ),
};

type TracingSettings = SettingsOf<typeof tracingVariables>;

/** Undefined: nothing is traced. */
export function tracingOf(of: TracingSettings) {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: headers = {} } = of;
  if (endpoint === undefined) return undefined;
  const [serviceName, ratio] = [of.OTEL_SERVICE_NAME, of.OTEL_TRACES_SAMPLER_ARG];
  return Object.freeze({ endpoint, headers, serviceName, ratio });
}
