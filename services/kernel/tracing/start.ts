import type { TracingOptions } from "./settings.ts";

/** Traces of this process, until disposed. Without an endpoint the SDK is not even loaded. */
export async function startTracing(options: TracingOptions): Promise<AsyncDisposable | undefined> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = options.settings;
  if (endpoint === undefined) return undefined;
  const { exportTraces } = await import("./sdk.ts");
  return exportTraces(options, endpoint);
}
