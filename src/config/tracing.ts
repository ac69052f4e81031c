/** The settings of traces, under the names that OpenTelemetry gave them. */
import { httpUrl, InvalidSetting, label, type Reader } from './values.ts';
import { optional, optionalSecret, type SettingsOf, setting } from './variable.ts';

const share: Reader<number> = (text) => {
  const value = /^(?:\d+(?:\.\d+)?|\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  if (value >= 0 && value <= 1) return value;
  throw new InvalidSetting('must be a number from 0 to 1, as in 0.1');
};

/** `name=value,name=value`, values percent-encoded. @throws Error */
function pairsOf(text: string): [name: string, value: string][] {
  return text.split(',').map((pair) => {
    const [name = '', value] = pair.split(/=(.*)/s).map((part) => decodeURIComponent(part.trim()));
    if (name === '' || value === undefined) throw new Error('a pair without name or "="');
    return [name, value];
  });
}

/** Other programs set this variable, too: an unreadable pair is left out, because it must not prevent a start. */
const attributes: Reader<Readonly<Record<string, string>>> = (text) =>
  Object.fromEntries(
    text.split(',').flatMap((pair) => {
      try {
        return pairsOf(pair);
      } catch {
        return [];
      }
    }),
  );

const headerList: Reader<Readonly<Record<string, string>>> = (text) => {
  try {
    return Object.fromEntries(new Headers(pairsOf(text)));
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
  OTEL_SERVICE_NAME: optional(
    label,
    'name of this server in traces; without it service.name of OTEL_RESOURCE_ATTRIBUTES, or belfry',
  ),
  OTEL_RESOURCE_ATTRIBUTES: optional(
    attributes,
    'what else traces say about this server, as in deployment.environment.name=production,host.name=web-1',
  ),
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
  const ratio = of.OTEL_TRACES_SAMPLER_ARG;
  const given = of.OTEL_RESOURCE_ATTRIBUTES;
  const resource = { ...given, 'service.name': of.OTEL_SERVICE_NAME ?? given?.['service.name'] ?? 'belfry' };
  return Object.freeze({ endpoint, headers, resource: Object.freeze(resource), ratio });
}
