import { parseExact } from "../domain/decimal.ts";
import { ControlProblem, type FieldProblem } from "./problem.ts";

/** Reads the members of a body and reports all mistakes together, unknown members included. */
export type BodyReader = {
  readonly optional: <T>(name: string, expects: string, parse: Parse<T>) => T | undefined;
  readonly required: <T>(name: string, expects: string, parse: Parse<T>) => T;
  /** Throws when the body had mistakes; callers use the values only after it. */
  readonly finish: () => void;
};

export type Parse<T> = (value: unknown) => T | undefined;

export function readerOf(body: unknown): BodyReader {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new ControlProblem("invalid_body", "the body must be a JSON object");
  }
  const members = new Map(Object.entries(body));
  const problems: FieldProblem[] = [];
  const known = new Set<string>();
  const optional = <T>(name: string, expects: string, parse: Parse<T>): T | undefined => {
    known.add(name);
    const value = members.get(name);
    if (value === undefined || value === null) return undefined;
    const parsed = parse(value);
    if (parsed === undefined) problems.push({ field: name, message: `must be ${expects}` });
    return parsed;
  };
  return {
    optional,
    required<T>(name: string, expects: string, parse: Parse<T>): T {
      const value = optional(name, expects, parse);
      if (value === undefined && !problems.some(({ field }) => field === name)) {
        problems.push({ field: name, message: `is missing: must be ${expects}` });
      }
      // The caller never uses undefined: finish() throws before.
      return value as T;
    },
    finish() {
      for (const name of members.keys()) {
        if (!known.has(name)) problems.push({ field: name, message: "is not known here" });
      }
      if (problems.length > 0) throw new ControlProblem("invalid_body", "the body is not valid", problems);
    },
  };
}

export function decimal(digits: number, isLegal: (value: bigint) => boolean = () => true): Parse<bigint> {
  return (value) => {
    const text = typeof value === "number" ? String(value) : value;
    const parsed = typeof text === "string" ? parseExact(text, digits) : undefined;
    return parsed !== undefined && isLegal(parsed) ? parsed : undefined;
  };
}

export function integer(least: number, most: number): Parse<number> {
  return (value) => {
    const number = typeof value === "string" && /^\d{1,16}$/.test(value) ? Number(value) : value;
    const isLegal = typeof number === "number" && Number.isSafeInteger(number) && number >= least && number <= most;
    return isLegal ? number : undefined;
  };
}

export function text(maxLength: number): Parse<string> {
  return (value) => (typeof value === "string" && value.length <= maxLength ? value : undefined);
}

export function choice<const Choice extends string>(choices: readonly Choice[]): Parse<Choice> {
  return (value) => choices.find((one) => one === value);
}
