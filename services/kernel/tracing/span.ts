import {
  type Attributes,
  type Context,
  context,
  createContextKey,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";

/** The place of the work that runs now in a trace. */
export type TracePlace = Context;

export type Span = {
  readonly traceId: string | undefined;
  /** What the work calls is part of the span. */
  readonly run: <T>(work: () => T) => T;
  readonly set: (attributes: Attributes) => void;
  /** `outcome` is `ok` or a code; `hasFailed` is for what an operator would call an error, not for an expected refusal. */
  readonly end: (outcome: string, hasFailed?: boolean) => void;
};

export type SpanOptions = {
  readonly kind: "server" | "client" | "consumer";
  /** Where it belongs to; by default to the work that runs now. */
  readonly parent?: TracePlace;
  /** Begins a trace when it belongs to none. Without it background reads would fill the store of traces. */
  readonly mayBegin?: boolean;
  /** Never secrets, query strings, names or bodies. */
  readonly attributes?: Attributes;
};

/** Of work that begins a trace, wherever it runs. */
export const NO_PLACE: TracePlace = ROOT_CONTEXT;

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, consumer: SpanKind.CONSUMER };
const TRACER = "pamm";
/** Of the job whose run the work belongs to. */
const JOB = createContextKey("pamm.job");

/** What is done instead without tracing, or outside of a trace. */
export const NO_SPAN: Span = { traceId: undefined, run: (work) => work(), set: () => {}, end: () => {} };

let isTracing = false;

/** By the set-up of the SDK only. */
export function switchTracing(isOn: boolean): void {
  isTracing = isOn;
}

export function startSpan(name: string, { kind, parent, mayBegin = false, attributes = {} }: SpanOptions): Span {
  if (!isTracing) return NO_SPAN;
  const place = parent ?? context.active();
  const isFirst = trace.getSpanContext(place) === undefined;
  if (isFirst && !mayBegin) return NO_SPAN;
  const job = isFirst ? (place.getValue(JOB) as string | undefined) : undefined;
  const own = job === undefined ? attributes : { ...attributes, "pamm.job": job };
  const span = trace.getTracer(TRACER).startSpan(name, { kind: KINDS[kind], attributes: own }, place);
  const within = trace.setSpan(place, span);
  return {
    traceId: span.spanContext().traceId,
    run: (work) => context.with(within, work),
    set: (more) => void span.setAttributes(more),
    end(outcome, hasFailed = false) {
      span.setAttribute("pamm.outcome", outcome);
      if (hasFailed) span.setStatus({ code: SpanStatusCode.ERROR, message: outcome });
      span.end();
    },
  };
}

/** Runs the work in a client span, and ends it with the outcome of the work. */
export async function inSpan<T>(
  span: Span,
  work: () => Promise<T>,
  outcomeOf: (error: unknown) => { readonly outcome: string; readonly hasFailed: boolean },
): Promise<T> {
  if (span === NO_SPAN) return await work();
  try {
    const result = await span.run(work);
    span.end("ok");
    return result;
  } catch (error) {
    const { outcome, hasFailed } = outcomeOf(error);
    span.end(outcome, hasFailed);
    throw error;
  }
}

/** Runs a job: what it sends begins a trace that has its name. */
export function inJob<T>(name: string, work: () => T): T {
  return isTracing ? context.with(ROOT_CONTEXT.setValue(JOB, name), work) : work();
}

/** For work that continues elsewhere, such as in a batch. */
export function tracePlace(): TracePlace {
  return context.active();
}

export function inPlace<T>(place: TracePlace, work: () => T): T {
  return context.with(place, work);
}

/** For work of many requests: it belongs to none of them. */
export function outsideTraces<T>(work: () => T): T {
  return context.with(NO_PLACE, work);
}

/** Of the work that runs now, for its log lines. */
export function currentTraceId(): string | undefined {
  return isTracing ? trace.getSpanContext(context.active())?.traceId : undefined;
}

/** The place that a caller has sent; the root when it sent none, or a malformed one. */
export function receivedPlace(header: (name: string) => string | undefined): TracePlace {
  if (!isTracing) return ROOT_CONTEXT;
  return propagation.extract(ROOT_CONTEXT, undefined, { get: (_, name) => header(name), keys: () => [] });
}

/** Sends the place of the work that runs now. */
export function sendPlace(set: (name: string, value: string) => void): void {
  if (!isTracing) return;
  propagation.inject(context.active(), undefined, { set: (_, name, value) => set(name, value) });
}
