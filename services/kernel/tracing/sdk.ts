import { context, propagation, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { type ExportResult, ExportResultCode, W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { hostname } from "node:os";
import { succeedsWithin } from "../jobs/answer-within.ts";
import type { Log } from "../process/log.ts";
import type { Secret } from "../values/secret.ts";
import type { SamplerName, TracingOptions } from "./settings.ts";
import { switchTracing } from "./span.ts";

/** Bounds the memory while the collector is away: further spans are dropped. About 2 MB. */
const MAX_QUEUED = 4_096;
const MAX_BATCH = 512;
const EXPORT_EVERY_MS = 1_000;
/** A collector is near; a slow one must not hold memory for longer. */
const EXPORT_TIMEOUT_MS = 3_000;
/** Of the drain, which has to end before HARD_STOP_MS of the process. */
const FLUSH_MS = 2_000;

/** Exports the spans of this process over OTLP (HTTP, JSON). Disposal sends those that wait, for at most FLUSH_MS. */
export function exportTraces({ service, version, settings, log }: TracingOptions, endpoint: string): AsyncDisposable {
  const { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio, OTEL_EXPORTER_OTLP_HEADERS: headers } = settings;
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/+$/, "")}/v1/traces`,
    headers: headersOf(headers),
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const processor = new BatchSpanProcessor({
    exporter: watched(exporter, log),
    maxQueueSize: MAX_QUEUED,
    maxExportBatchSize: MAX_BATCH,
    scheduledDelayMillis: EXPORT_EVERY_MS,
    exportTimeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      "service.namespace": "pamm",
      "service.name": service,
      "service.version": version,
      "service.instance.id": `${hostname()}:${process.pid}`,
    }),
    sampler: samplerOf(name, ratio),
    spanProcessors: [processor],
  });
  const contexts = new AsyncLocalStorageContextManager().enable();
  context.setGlobalContextManager(contexts);
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  switchTracing(true);
  return {
    async [Symbol.asyncDispose]() {
      switchTracing(false);
      await succeedsWithin(provider.shutdown(), FLUSH_MS);
      trace.disable();
      propagation.disable();
      context.disable();
    },
  };
}

/** Logs once when the collector is lost and once when it is back: the SDK itself reports nothing. */
function watched(exporter: SpanExporter, log: Log): SpanExporter {
  let hasFailed = false;
  const note = ({ code, error }: ExportResult): void => {
    const isExported = code === ExportResultCode.SUCCESS;
    if (!isExported && !hasFailed) {
      log.warn("traces not exported, they are dropped until the collector answers", { error });
    }
    if (isExported && hasFailed) log.info("traces exported again");
    hasFailed = !isExported;
  };
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        note(result);
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => await exporter.forceFlush?.(),
  };
}

/** `name=value` pairs as OpenTelemetry writes them: values are percent-encoded. */
function headersOf(text: Secret<string> | undefined): Record<string, string> {
  const pairs = (text?.reveal() ?? "").split(",").filter((pair) => pair.includes("="));
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf("=");
      return [pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())];
    }),
  );
}

function samplerOf(name: SamplerName, ratio: number): Sampler {
  const root = rootSampler(name, ratio);
  return name.startsWith("parentbased_") ? new ParentBasedSampler({ root }) : root;
}

function rootSampler(name: SamplerName, ratio: number): Sampler {
  if (name.endsWith("always_on")) return new AlwaysOnSampler();
  return name.endsWith("always_off") ? new AlwaysOffSampler() : new TraceIdRatioBasedSampler(ratio);
}
