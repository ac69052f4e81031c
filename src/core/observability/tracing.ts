/** Spans measure the parts of a request. Without a tracer, none of this runs. */

export type SpanValue = string | number | boolean;

export interface Span {
  set(name: string, value: SpanValue): void;
  /** With an error, the span is marked as failed. */
  end(error?: unknown): void;
}

export interface Tracer {
  /** Begins a span below the current one; without one, it is the first of a trace. */
  start(name: string, attributes?: Readonly<Record<string, SpanValue>>): Span;
  /**
   * Begins the span of a request, and runs `work` so that spans of it are below this one.
   * `traceparent`: the caller's place in its own trace, as in https://www.w3.org/TR/trace-context/; one that is not valid is ignored.
   */
  serve<T>(name: string, traceparent: string | undefined, work: (span: Span) => T): T;
  /** Records a span of finished work, which began `durationMs` ago. */
  record(name: string, durationMs: number, attributes: Readonly<Record<string, SpanValue>>): void;
}

/** A place in a trace. */
export interface TracePlace {
  readonly traceId: string;
  readonly spanId: string;
  readonly sampled: boolean;
}

/** Reads a `traceparent` header; later versions may have more fields. */
export function readTraceparent(text: string | undefined): TracePlace | undefined {
  const [, version, traceId = '', spanId = '', flags = '', more] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/.exec(text ?? '') ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
