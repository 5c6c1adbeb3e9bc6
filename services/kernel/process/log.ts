import { type DestinationStream, destination, pino } from "pino";
import { currentTraceId } from "../tracing/span.ts";

/** The allow-list. A field that is not named here is never written. */
const FIELDS = [
  "request_id",
  "trace_id",
  "command_id",
  "operation_id",
  "leg",
  "caller",
  "method",
  "route",
  "status",
  "code",
  "error_id",
  "outcome",
  "duration_ms",
  "client",
  "address",
  "host",
  "port",
  "url",
  "feed",
  "group",
  "subject",
  "stream",
  "consumer",
  "number",
  "id",
  "key",
  "login",
  "ticket",
  "kind",
  "state",
  "reason",
  "count",
  "bytes",
  "attempt",
  "retry_in_ms",
  "job",
  "task",
  "table",
  "migration",
  "version",
  "signal",
  "exit_code",
  "pid",
] as const;

type LogValue = string | number | bigint | boolean | Date | undefined;

/** `error` is any thrown value; its type, message, code and stack are written, never its other members. */
export type LogFields = { readonly [Name in (typeof FIELDS)[number]]?: LogValue } & { readonly error?: unknown };

/** Bounds a log line: the message of an error may quote a long answer. */
const MAX_TEXT_LENGTH = 1_000;
/** Also ends a chain of causes that is a cycle. */
const MAX_CAUSES = 3;

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

function writableFields(fields: LogFields): Record<string, unknown> {
  const written: Record<string, unknown> = {};
  for (const name of FIELDS) {
    const value = writableValue(fields[name]);
    if (value !== undefined) written[name] = value;
  }
  if (fields.error !== undefined) written["error"] = writableError(fields.error, MAX_CAUSES);
  return written;
}

function writableValue(value: unknown): string | number | boolean | undefined {
  if (typeof value === "string") return value.slice(0, MAX_TEXT_LENGTH);
  if (typeof value === "number" || typeof value === "boolean") return value;
  if (typeof value === "bigint") return value.toString();
  return value instanceof Date ? value.toISOString() : undefined;
}

function writableError(error: unknown, causes: number): Record<string, unknown> {
  // A thrown value that is not an Error may contain anything, for example a request body.
  if (!(error instanceof Error)) return { type: typeof error };
  // The first of several errors says why, where no other cause is given.
  const because: unknown = error.cause ?? (error instanceof AggregateError ? error.errors[0] : undefined);
  const cause = causes > 0 && because !== undefined ? { cause: writableError(because, causes - 1) } : {};
  return {
    type: error.name,
    message: error.message.slice(0, MAX_TEXT_LENGTH),
    ...("code" in error ? { code: writableValue(error.code) } : {}),
    stack: error.stack,
    ...cause,
  };
}
