import type { FieldError } from "#kernel/refusal.ts";
import type { Route } from "../../../services/edge/http/route.ts";
import { CHECKS, type CheckName } from "../../../services/edge/fields/checks.ts";

type Field = { readonly "x-check"?: CheckName; readonly enum?: readonly string[] };

/** Values of which every check refuses at least one. */
const WRONG = ["0", "x", "", "-1", "1.005", "EUR", "\n", "{}"];

/** Every route reports it, also for a name that it ignores. */
export const GIVEN_TWICE = { field: "trace", code: "duplicate", message: "trace must be given once." };

/** A mistake that this route would report: of its first field that has a check or a set of values. */
export function wrongField(route: Route): FieldError {
  const found = Object.entries(fieldsOf(route)).map(([name, field]) => mistakeOf(name, field));
  return found.find((mistake) => mistake !== undefined) ?? GIVEN_TWICE;
}

/** The mistake of the field with this name that has this code. */
export function wrongFieldWith(route: Route, code: string): FieldError | undefined {
  const found = Object.entries(fieldsOf(route)).flatMap(([name, { "x-check": check }]) =>
    check === undefined ? [] : WRONG.map((value) => explain(name, check, value)),
  );
  return found.find((mistake) => mistake?.code === code);
}

function fieldsOf({ params, query, body }: Route): Record<string, Field> {
  return { ...body?.properties, ...query?.properties, ...params?.properties };
}

function mistakeOf(name: string, { "x-check": check, enum: values }: Field): FieldError | undefined {
  if (values !== undefined) {
    return { field: name, code: "unknown_value", message: `${name} must be one of ${values.join(", ")}.` };
  }
  if (check === undefined) return undefined;
  return WRONG.map((value) => explain(name, check, value)).find((mistake) => mistake !== undefined);
}

function explain(field: string, check: CheckName, value: string): FieldError | undefined {
  const problem = CHECKS[check](value);
  return problem && { field, code: problem.code, message: `${field} ${problem.text}.` };
}
