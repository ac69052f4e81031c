/** Spans, sent to an OpenTelemetry collector as OTLP over HTTP in JSON. Loaded only where a collector is configured. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes, randomUUID } from 'node:crypto';
import {
  readTraceparent,
  type Span,
  type SpanValue,
  type TracePlace,
  type Tracer,
} from '#core/observability/tracing.ts';

export interface TracingOptions {
  /** Of the collector, without /v1/traces. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Attributes of this server. */
  readonly resource: Readonly<Record<string, string>>;
  readonly version: string;
  readonly commit?: string | undefined;
  /** The share of traces that are kept, from 0 to 1, unless the caller has decided it. */
  readonly ratio: number;
  readonly onProblem: (message: string) => void;
}

export interface OtlpTracing {
  readonly tracer: Tracer;
  /** Wraps an object: each call of the named methods, which return promises, gets a span. */
  traceCalls<T extends object>(target: T, methods: readonly (keyof T & string)[]): T;
  /** Sends what is left. Resolves within twice `sendMs`, whether the collector answers or not. */
  close(): Promise<void>;
}

/** https://opentelemetry.io/docs/specs/otlp/#otlphttp */
const spanKind = { internal: 1, server: 2 } as const;
const batchSpans = 512;
const batchMs = 2_000;
/** More spans are dropped, so that a slow collector does not cost memory. */
const mostWaiting = 4_096;
const sendMs = 5_000;

interface SpanRecord {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly object[];
  readonly status: object;
}

export function openOtlpTracing(options: TracingOptions): OtlpTracing {
  const exporter = new Exporter(options);
  const tracer = createTracer(exporter, options.ratio);
  return {
    tracer,
    traceCalls: (target, methods) => tracedCalls(tracer, target, methods),
    close: () => exporter.close(),
  };
}

function tracedCalls<T extends object>(tracer: Tracer, target: T, methods: readonly string[]): T {
  return new Proxy(target, {
    get(_, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      if (!methods.includes(String(name))) return value.bind(target);
      return async (...args: unknown[]) => {
        const span = tracer.start(String(name));
        try {
          const result: unknown = await value.apply(target, args);
          span.end();
          return result;
        } catch (error) {
          span.end(error);
          throw error;
        }
      };
    },
  });
}

type Attributes = Readonly<Record<string, SpanValue>>;

function createTracer(exporter: Exporter, ratio: number): Tracer {
  const current = new AsyncLocalStorage<TracePlace>();

  const begin = (
    name: string,
    kind: number,
    parent: TracePlace | undefined,
    { attributes: given, agoMs = 0 }: { attributes?: Attributes | undefined; agoMs?: number } = {},
  ) => {
    const place = {
      traceId: parent?.traceId ?? randomBytes(16).toString('hex'),
      spanId: randomBytes(8).toString('hex'),
      sampled: parent?.sampled ?? Math.random() < ratio,
    };
    const began = performance.timeOrigin + performance.now() - agoMs;
    const attributes = { ...given };
    let isOver = !place.sampled;
    const span: Span = {
      set(attribute, value) {
        attributes[attribute] = value;
      },
      end(error) {
        if (isOver) return;
        isOver = true;
        exporter.add({
          traceId: place.traceId,
          spanId: place.spanId,
          ...(parent && { parentSpanId: parent.spanId }),
          name,
          kind,
          startTimeUnixNano: nanoseconds(began),
          endTimeUnixNano: nanoseconds(performance.timeOrigin + performance.now()),
          attributes: attributeList(attributes),
          status: error === undefined ? {} : { code: 2, message: messageOf(error) },
        });
      },
    };
    return { place, span };
  };

  return {
    start: (name, attributes) => begin(name, spanKind.internal, current.getStore(), { attributes }).span,
    serve(name, traceparent, work) {
      const { place, span } = begin(name, spanKind.server, readTraceparent(traceparent));
      return current.run(place, work, span);
    },
    record: (name, agoMs, attributes) =>
      begin(name, spanKind.internal, undefined, { attributes, agoMs }).span.end(),
  };
}

const nanoseconds = (unixMs: number) => String(BigInt(Math.round(unixMs * 1_000)) * 1_000n);
/** Only the kind of an error, because its text may quote a sender. */
const messageOf = (error: unknown) => (error instanceof Error ? error.name : 'Error');

function attributeList(attributes: Attributes): object[] {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value:
      typeof value === 'string'
        ? { stringValue: value }
        : typeof value === 'boolean'
          ? { boolValue: value }
          : Number.isInteger(value)
            ? { intValue: String(value) }
            : { doubleValue: value },
  }));
}

class Exporter {
  readonly #options: TracingOptions;
  readonly #attributes: object[];
  #waiting: SpanRecord[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** The one batch under way: what a slow collector does not take yet stays in `#waiting`, which is bounded. */
  #sending: Promise<void> | undefined;
  #isFailing = false;

  constructor(options: TracingOptions) {
    this.#options = options;
    const { resource, version, commit } = options;
    this.#attributes = attributeList({
      'service.instance.id': randomUUID(),
      'service.version': version,
      ...(commit !== undefined && { 'vcs.ref.head.revision': commit }),
      ...resource,
    });
  }

  add(record: SpanRecord): void {
    if (this.#waiting.length >= mostWaiting) return;
    this.#waiting.push(record);
    this.#schedule();
  }

  async close(): Promise<void> {
    const deadline = performance.now() + sendMs;
    this.#flush();
    while (this.#sending) {
      await this.#sending;
      if (this.#isFailing || performance.now() > deadline) this.#waiting = [];
      this.#flush();
    }
  }

  #schedule(): void {
    if (this.#waiting.length >= batchSpans) this.#flush();
    else if (this.#waiting.length > 0) this.#timer ??= setTimeout(() => this.#flush(), batchMs).unref();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#sending || this.#waiting.length === 0) return;
    this.#sending = this.#send(this.#waiting.splice(0, batchSpans)).finally(() => {
      this.#sending = undefined;
      this.#schedule();
    });
  }

  /** Spans that the collector refuses are dropped: a trace may be incomplete. */
  async #send(spans: readonly SpanRecord[]): Promise<void> {
    const { endpoint, headers, version, onProblem } = this.#options;
    const resource = { attributes: this.#attributes };
    const scopeSpans = [{ scope: { name: 'belfry', version }, spans }];
    let problem: string | undefined;
    try {
      const answer = await fetch(`${endpoint}/v1/traces`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ resourceSpans: [{ resource, scopeSpans }] }),
        redirect: 'error',
        signal: AbortSignal.timeout(sendMs),
      });
      await answer.body?.cancel();
      if (!answer.ok) problem = `answers ${answer.status}`;
    } catch {
      problem = 'cannot be reached';
    }
    // Logged once each time that it begins to fail.
    if (problem !== undefined && !this.#isFailing)
      onProblem(`the collector at OTEL_EXPORTER_OTLP_ENDPOINT ${problem}: spans are dropped`);
    this.#isFailing = problem !== undefined;
  }
}
