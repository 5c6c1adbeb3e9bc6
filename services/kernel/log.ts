import { type DestinationStream, destination, pino } from "pino";
import { currentTraceId } from "./tracing/span.ts";
import { type LogFields, writableFields } from "./log-fields.ts";

export type { LogFields } from "./log-fields.ts";

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Messages are constant text; values go into fields, and only fields on the allow-list are written. */
export type Log = {
  readonly debug: (message: string, fields?: LogFields) => void;
  readonly info: (message: string, fields?: LogFields) => void;
  readonly warn: (message: string, fields?: LogFields) => void;
  readonly error: (message: string, fields?: LogFields) => void;
  readonly fatal: (message: string, fields?: LogFields) => void;
  /** A log that adds these fields to each of its lines. */
  readonly child: (fields: LogFields) => Log;
};

export type LogOptions = {
  readonly service: string;
  readonly level: LogLevel;
  /** The destination; standard output by default. */
  readonly to?: DestinationStream;
};

export function createLog({ service, level, to }: LogOptions): Log {
  const lines = pino(
    {
      level,
      base: { service },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    // Synchronous, so that the last line before an exit is not lost.
    to ?? destination({ dest: 1, sync: true }),
  );
  return withFields(lines, {});
}

type Lines = Record<Exclude<LogLevel, "trace" | "silent">, (fields: object, message: string) => void> & {
  readonly isLevelEnabled: (level: string) => boolean;
};

function withFields(lines: Lines, always: LogFields): Log {
  const writer = (level: Exclude<keyof Lines, "isLevelEnabled">) => (message: string, fields?: LogFields) => {
    if (!lines.isLevelEnabled(level)) return;
    lines[level](writableFields({ trace_id: currentTraceId(), ...always, ...fields }), message);
  };
  return {
    debug: writer("debug"),
    info: writer("info"),
    warn: writer("warn"),
    error: writer("error"),
    fatal: writer("fatal"),
    child: (fields) => withFields(lines, { ...always, ...fields }),
  };
}
