import { inBatches } from "#kernel/batches/in-batches.ts";
import { badAnswer } from "./errors.ts";
import { isContradictory } from "./codec.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "./http/json.ts";

/** Reads the members of one record of the platform. A member that is not as documented throws a bad_answer. */
export type Fields = {
  readonly text: (name: string) => string;
  readonly optionalText: (name: string) => string | undefined;
  /** Text that is stored and shown, empty when absent; a space for each control character, which tables do not take. */
  readonly shownText: (name: string) => string;
  /** Tickets, logins, volumes: whole numbers that must never become floats. */
  readonly integer: (name: string) => bigint;
  /** Counts: whole numbers below 2^53. */
  readonly number: (name: string) => number;
  /** A value of one of the platform's enumerations: 0 to 32,767. */
  readonly code: (name: string) => number;
  /** Milliseconds of the server's wall clock, from a member in units of `unitMs`. */
  readonly timeMs: (name: string, unitMs: number) => number;
  /** Booked money in minor units; `absent` is the value of a missing member, which throws without it. */
  readonly minor: (name: string, absent?: bigint) => bigint;
  /** Money that is shown and never booked, rounded to minor units. */
  readonly shownMinor: (name: string, absent?: bigint) => bigint;
  readonly has: (name: string) => boolean;
  /** A record inside this one. */
  readonly record: (name: string) => JsonValue | undefined;
};

const CONTROL = /\p{Cc}/gu;
const INTEGER = /^-?(?:0|[1-9]\d{0,18})$/;
/** Contracts and tables take an int64. */
export const MAX_INTEGER = 2n ** 63n - 1n;
/** Above any real amount, and the sum of a few of them still fits an int64. */
const MAX_MINOR = 10n ** 18n;
/** Tables take a smallint. */
const MAX_CODE = 32_767;
/** After any time that a server shows, and before the end of the range of Date. */
const LAST_TIME_MS = Date.UTC(2200, 0);

export function fieldsOf(value: JsonValue | undefined): Fields {
  if (!isJsonObject(value)) throw badAnswer("the platform's answer is not a record");
  const optionalText = (name: string) => scalar(value, name);
  const text = (name: string) => optionalText(name) ?? missing(name);
  const integer = (name: string) => {
    const digits = text(name);
    return within(INTEGER.test(digits) ? BigInt(digits) : undefined, MAX_INTEGER, name);
  };
  const number = (name: string) => {
    const exact = Number(integer(name));
    return Number.isSafeInteger(exact) ? exact : malformed(name);
  };
  const money = (parse: (text: string) => bigint | undefined) => (name: string, absent?: bigint) => {
    const digits = absent === undefined ? text(name) : optionalText(name);
    return digits === undefined ? (absent ?? missing(name)) : within(parse(digits), MAX_MINOR, name);
  };
  return {
    text,
    optionalText,
    shownText: (name) => (optionalText(name) ?? "").replaceAll(CONTROL, " "),
    integer,
    number,
    code: (name) => {
      const code = number(name);
      return code >= 0 && code <= MAX_CODE ? code : malformed(name);
    },
    timeMs: (name, unitMs) => {
      const ms = number(name) * unitMs;
      return ms >= 0 && ms <= LAST_TIME_MS ? ms : malformed(name);
    },
    minor: money(exactMinor),
    shownMinor: money(roundedMinor),
    has: (name) => optionalText(name) !== undefined,
    record: (name) => member(value, name),
  };
}

/** The platform writes scalars as text; null is absent. */
function scalar(object: JsonObject, name: string): string | undefined {
  const value = member(object, name);
  if (value === undefined || value === null) return undefined;
  return typeof value === "string" ? value : malformed(name);
}

function member(object: JsonObject, name: string): JsonValue | undefined {
  const key = name.toLowerCase();
  if (isContradictory(object, key)) throw badAnswer(`the platform's answer has two different values of ${name}`);
  return object.get(key)?.[0];
}

function within(value: bigint | undefined, max: bigint, name: string): bigint {
  return value === undefined || value > max || value < -max ? malformed(name) : value;
}

function missing(name: string): never {
  throw badAnswer(`the platform's answer has no ${name}`);
}

function malformed(name: string): never {
  throw badAnswer(`the platform's answer has a ${name} that cannot be read`);
}

/** Digits of the accounts' currency. */
const MINOR_DIGITS = 2;
const DECIMAL = /^(-?)(\d{1,18})(?:\.(\d{1,20}))?$/;

/** Decimal text as minor units, exactly; undefined when it is not decimal, or finer than a minor unit. */
export function exactMinor(text: string): bigint | undefined {
  const parts = partsOf(text);
  return parts === undefined || /[1-9]/.test(parts.finer) ? undefined : parts.minor;
}

/** The same for values that are shown and never booked: finer digits are rounded half to even. */
export function roundedMinor(text: string): bigint | undefined {
  const parts = partsOf(text);
  if (parts === undefined) return undefined;
  const isHalf = /^50*$/.test(parts.finer);
  const size = parts.minor < 0n ? -parts.minor : parts.minor;
  const isUp = isHalf ? size % 2n === 1n : /^[5-9]/.test(parts.finer);
  const rounded = isUp ? size + 1n : size;
  return parts.isNegative ? -rounded : rounded;
}

function partsOf(text: string): { isNegative: boolean; minor: bigint; finer: string } | undefined {
  const [, sign, whole, fraction = ""] = DECIMAL.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const size = BigInt(whole + fraction.slice(0, MINOR_DIGITS).padEnd(MINOR_DIGITS, "0"));
  return { isNegative: sign === "-", minor: sign === "-" ? -size : size, finer: fraction.slice(MINOR_DIGITS) };
}

/** The platform's logins are uint64; here they are decimal text without leading zeros. */
const LOGIN = /^[1-9]\d{0,19}$/;

/** All logins or tickets of a call are in one URL, whose length is limited. */
export const MAX_PER_CALL = 100;

/** Logins or tickets in their order, as many together as fit into one call. */
export function batchesOf<Item>(items: readonly Item[]): Item[][] {
  return inBatches(items, MAX_PER_CALL);
}

/** The login of a record. */
export function loginOf(fields: Fields): string {
  const login = fields.text("Login");
  if (!LOGIN.test(login)) throw badAnswer("the platform's answer has a Login that cannot be read");
  return login;
}

/** Throws when the record is of another login than the requested one. */
export function requireLogin(fields: Fields, login: string): void {
  if (loginOf(fields) !== login) throw badAnswer("the platform answers about another login");
}

/** Ticket of a deal, an order or a position: a positive int64. */
export function ticketOf(fields: Fields, name: string): bigint {
  const ticket = fields.integer(name);
  if (ticket <= 0n) throw badAnswer(`the platform's answer has a ${name} that is not a ticket`);
  return ticket;
}

/** The extended volume is in 1e-8 lots, the plain one in 1e-4; older servers show the plain one only. */
const EXTENDED_PER_PLAIN = 10_000n;

/** Lots in units of 1e-8. */
export function volumeOf(fields: Fields, name: string): bigint {
  const extended = `${name}Ext`;
  const volume = fields.has(extended) ? fields.integer(extended) : fields.integer(name) * EXTENDED_PER_PLAIN;
  if (volume < 0n || volume > MAX_INTEGER) throw badAnswer(`the platform's answer has a ${name} that is not a volume`);
  return volume;
}
