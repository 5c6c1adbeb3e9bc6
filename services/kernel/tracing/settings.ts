import type { Config } from "../process/config.ts";
import { oneOf, optional, secret, url, variable } from "../process/config-variables.ts";
import type { Log } from "../process/log.ts";

export const SAMPLERS = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;
export type SamplerName = (typeof SAMPLERS)[number];

/** The names are those of OpenTelemetry, which operators know. */
export const TRACING_SETTINGS = {
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(url(["http", "https"])),
  OTEL_EXPORTER_OTLP_HEADERS: optional(secret("name=value pairs, separated by commas")),
  OTEL_TRACES_SAMPLER: oneOf(SAMPLERS, { whenMissing: "parentbased_always_on" }),
  OTEL_TRACES_SAMPLER_ARG: variable("a ratio from 0 to 1", parseRatio, { whenMissing: "1" }),
};

export type TracingSettings = Config<typeof TRACING_SETTINGS>;

export type TracingOptions = {
  readonly service: string;
  readonly version: string;
  readonly settings: TracingSettings;
  readonly log: Log;
};

function parseRatio(text: string): number | undefined {
  const ratio = Number(text);
  return /^\d(?:\.\d{1,9})?$/.test(text) && ratio <= 1 ? ratio : undefined;
}
