import { parseDuration } from "../values/duration.ts";
import { LOG_LEVELS, type LogLevel } from "./log.ts";
import { Secret } from "../values/secret.ts";
import { isTimeZone } from "../values/time-zone.ts";

/** `whenMissing` is written as an operator would write it; `otherwise` names the variable that is read when this one is not set. */
export type VariableOptions = { readonly whenMissing?: string; readonly otherwise?: string };

export type Variable<T> = VariableOptions & {
  /** Completes "expected ..." in a message to the operator. */
  readonly expects: string;
  readonly isSecret: boolean;
  /** True: the value is undefined when the variable is not set. */
  readonly isOptional: boolean;
  /** Returns undefined for invalid text. */
  readonly parse: (text: string) => T | undefined;
};

const KEY_BYTES = 32;

export function variable<T>(
  expects: string,
  parse: (text: string) => T | undefined,
  options: VariableOptions & { readonly isSecret?: boolean } = {},
): Variable<T> {
  return { isSecret: false, isOptional: false, ...options, expects, parse };
}

export function optional<T>(required: Variable<T>): Variable<T | undefined> {
  return { ...required, isOptional: true };
}

export function text(expects: string, options?: VariableOptions): Variable<string> {
  return variable(expects, (value) => (value.trim() === "" ? undefined : value), options);
}

export function integer(min: number, max: number, options?: VariableOptions): Variable<number> {
  return variable(`a whole number from ${min} to ${max}`, (value) => parseInteger(value, min, max), options);
}

/** 0 = any free port. */
export function port(options?: VariableOptions): Variable<number> {
  return variable("a port, 0 to 65535", (value) => parseInteger(value, 0, 65_535), options);
}

export function flag(options?: VariableOptions): Variable<boolean> {
  return variable("true or false", (value) => ({ true: true, false: false })[value], options);
}

export function timeZone(): Variable<string> {
  return variable(
    "an IANA time zone, with a distance such as America/New_York+07:00 when the clock is ahead of it",
    (zone) => (isTimeZone(zone) ? zone : undefined),
  );
}

export function oneOf<const Choice extends string>(
  choices: readonly Choice[],
  options?: VariableOptions,
): Variable<Choice> {
  return variable(`one of ${choices.join(", ")}`, (value) => choices.find((choice) => choice === value), options);
}

export function logLevel(): Variable<LogLevel> {
  return oneOf(LOG_LEVELS, { whenMissing: "info" });
}

/** ISO 8601, in milliseconds. */
export function duration(options?: VariableOptions): Variable<number> {
  return variable("an ISO 8601 duration such as PT5S, PT20M or P7D", parseDuration, options);
}

/** ISO 8601, in milliseconds; PT0S only where it is the shortest. */
export function durationWithin(min: string, max: string, whenMissing: string): Variable<number> {
  const msOf = (text: string) => (text === "PT0S" ? 0 : parseDuration(text));
  const [least = 0, most = 0] = [msOf(min), msOf(max)];
  return variable(
    `an ISO 8601 duration from ${min} to ${max}`,
    (value) => {
      const ms = msOf(value);
      return ms !== undefined && ms >= least && ms <= most ? ms : undefined;
    },
    { whenMissing },
  );
}

/** The time zone is required, so that the instant does not depend on the machine that reads it. */
export function instant(options?: VariableOptions): Variable<Date> {
  return variable("an instant such as 2025-01-04T00:00:00Z", parseInstant, options);
}

export function url(protocols: readonly string[], options?: VariableOptions): Variable<string> {
  return variable(`a URL that begins with ${protocols.join(": or ")}:`, (value) => parseUrl(value, protocols), options);
}

export function list(options?: VariableOptions): Variable<readonly string[]> {
  return variable("names separated by commas", parseList, options);
}

/** Also read from the file that NAME_FILE names. */
export function secret(expects: string, options?: VariableOptions): Variable<Secret<string>> {
  return variable(expects, (value) => new Secret(value), { ...options, isSecret: true });
}

const MAX_KEYS = 10;

/** A key of 256 bits. */
export function secretKey(options?: VariableOptions): Variable<Secret<Buffer>> {
  return variable("32 bytes in base64", parseKey, { ...options, isSecret: true });
}

/** Up to ten keys, separated by commas. */
export function secretKeys(options?: VariableOptions): Variable<readonly Secret<Buffer>[]> {
  const parse = (value: string) => {
    const keys = value.split(",").map((part) => parseKey(part.trim()));
    const isRight = keys.length <= MAX_KEYS && keys.every((key) => key !== undefined);
    return isRight ? keys.filter((key) => key !== undefined) : undefined;
  };
  return variable(`1 to ${MAX_KEYS} times 32 bytes in base64, separated by commas`, parse, {
    ...options,
    isSecret: true,
  });
}

/** A URL that may contain a password. */
export function secretUrl(protocols: readonly string[], options?: VariableOptions): Variable<Secret<string>> {
  const parse = (value: string) => (parseUrl(value, protocols) === undefined ? undefined : new Secret(value));
  return variable(`a URL that begins with ${protocols.join(": or ")}:`, parse, { ...options, isSecret: true });
}

/** One or more, separated by commas: the nodes of a cluster. */
export function secretUrls(protocols: readonly string[], options?: VariableOptions): Variable<Secret<string>> {
  const parse = (value: string) =>
    value.split(",").every((each) => parseUrl(each.trim(), protocols) !== undefined) ? new Secret(value) : undefined;
  return variable(`URLs that begin with ${protocols.join(": or ")}:`, parse, { ...options, isSecret: true });
}

function parseInteger(value: string, min: number, max: number): number | undefined {
  if (!/^-?\d{1,15}$/.test(value)) return undefined;
  const number = Number(value);
  return number >= min && number <= max ? number : undefined;
}

function parseInstant(value: string): Date | undefined {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/.test(value)) return undefined;
  const date = new Date(value);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

function parseKey(value: string): Secret<Buffer> | undefined {
  const bytes = Buffer.from(value, "base64");
  return bytes.length === KEY_BYTES && bytes.toString("base64") === value ? new Secret(bytes) : undefined;
}

function parseUrl(value: string, protocols: readonly string[]): string | undefined {
  const protocol = URL.canParse(value) ? new URL(value).protocol.slice(0, -1) : undefined;
  return protocol !== undefined && protocols.includes(protocol) ? value : undefined;
}

function parseList(value: string): readonly string[] | undefined {
  const names = value.split(",").map((name) => name.trim());
  return names.includes("") ? undefined : names;
}
