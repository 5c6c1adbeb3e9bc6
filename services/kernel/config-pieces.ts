import { Type, type TCodec, type TOptional, type TSchema, type TString } from "typebox";
import { parseDuration } from "./duration.ts";
import { LOG_LEVELS, type LogLevel } from "./log.ts";
import { Secret } from "./secret.ts";

/** `whenMissing` is written as an operator would write it; `otherwise` names the variable that is read when this one is not set. */
export type PieceOptions = { readonly whenMissing?: string; readonly otherwise?: string };

export type Piece<T> = TCodec<TString, T>;

type Facts = PieceOptions & { readonly expects: string; readonly isSecret: boolean };

const KEY_BYTES = 32;

/** One variable: a description of what is expected, and the parser of its text, which returns undefined for invalid text. */
export function piece<T>(
  expects: string,
  parse: (text: string) => T | undefined,
  options: PieceOptions & { readonly isSecret?: boolean } = {},
): Piece<T> {
  const facts: Facts = { isSecret: false, ...options, expects };
  return Type.Decode(Type.String({ facts }), (text): T => {
    const value = parse(text);
    if (value === undefined) throw new TypeError(`expected ${expects}`);
    return value;
  });
}

export function pieceOf(field: TSchema): Facts & { readonly isOptional: boolean } {
  const facts = (field as { facts?: Facts }).facts ?? { expects: "text", isSecret: false };
  return { ...facts, isOptional: Type.IsOptional(field) };
}

export function optional<T>(field: Piece<T>): TOptional<Piece<T>> {
  return Type.Optional(field);
}

export function text(expects: string, options?: PieceOptions): Piece<string> {
  return piece(expects, (value) => (value.trim() === "" ? undefined : value), options);
}

export function integer(min: number, max: number, options?: PieceOptions): Piece<number> {
  return piece(`a whole number from ${min} to ${max}`, (value) => parseInteger(value, min, max), options);
}

/** 0 = any free port. */
export function port(options?: PieceOptions): Piece<number> {
  return piece("a port, 0 to 65535", (value) => parseInteger(value, 0, 65_535), options);
}

export function flag(options?: PieceOptions): Piece<boolean> {
  return piece("true or false", (value) => ({ true: true, false: false })[value], options);
}

export function oneOf<const Choice extends string>(choices: readonly Choice[], options?: PieceOptions): Piece<Choice> {
  return piece(`one of ${choices.join(", ")}`, (value) => choices.find((choice) => choice === value), options);
}

export function logLevel(): Piece<LogLevel> {
  return oneOf(LOG_LEVELS, { whenMissing: "info" });
}

/** ISO 8601, in milliseconds. */
export function duration(options?: PieceOptions): Piece<number> {
  return piece("an ISO 8601 duration such as PT5S, PT20M or P7D", parseDuration, options);
}

/** The time zone is required, so that the instant does not depend on the machine that reads it. */
export function instant(options?: PieceOptions): Piece<Date> {
  return piece("an instant such as 2025-01-04T00:00:00Z", parseInstant, options);
}

export function url(protocols: readonly string[], options?: PieceOptions): Piece<string> {
  return piece(`a URL that begins with ${protocols.join(": or ")}:`, (value) => parseUrl(value, protocols), options);
}

export function list(options?: PieceOptions): Piece<readonly string[]> {
  return piece("names separated by commas", parseList, options);
}

/** Also read from the file that NAME_FILE names. */
export function secret(expects: string, options?: PieceOptions): Piece<Secret<string>> {
  return piece(expects, (value) => new Secret(value), { ...options, isSecret: true });
}

/** A key of 256 bits. */
export function secretKey(options?: PieceOptions): Piece<Secret<Buffer>> {
  return piece("32 bytes in base64", parseKey, { ...options, isSecret: true });
}

/** A URL that may contain a password. */
export function secretUrl(protocols: readonly string[], options?: PieceOptions): Piece<Secret<string>> {
  const parse = (value: string) => (parseUrl(value, protocols) === undefined ? undefined : new Secret(value));
  return piece(`a URL that begins with ${protocols.join(": or ")}:`, parse, { ...options, isSecret: true });
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
