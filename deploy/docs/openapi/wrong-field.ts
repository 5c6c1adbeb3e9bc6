import type { FieldError } from "#kernel/values/refusal.ts";
import { type CheckName, CHECKS } from "../../../services/edge/fields/checks.ts";
import type { Route } from "../../../services/edge/http/route.ts";
import { invalid } from "../../../services/edge/problems/problem.ts";
import type { ProblemCode } from "../../../services/edge/problems/problems.ts";

type Field = { readonly "x-check"?: CheckName; readonly enum?: readonly string[] };

/** Values of which every check refuses at least one. */
const WRONG = ["0", "x", "", "-1", "1.005", "EUR", "\n", "{}"];

/** A mistake that this route would report with this problem: of its first field that has one. */
export function wrongField(route: Route, code: ProblemCode): FieldError | undefined {
  const mistakes = Object.entries(fieldsOf(route)).flatMap(([name, field]) => mistakesOf(name, field));
  return mistakes.find((mistake) => invalid([mistake]).code === code);
}

export function fieldsOf({ params, query, body }: Route): Record<string, Field> {
  return { ...body?.properties, ...query?.properties, ...params?.properties };
}

function mistakesOf(name: string, { "x-check": check, enum: values }: Field): FieldError[] {
  if (values !== undefined) {
    return [{ field: name, code: "unknown_value", message: `${name} must be one of ${values.join(", ")}.` }];
  }
  return check === undefined ? [] : WRONG.flatMap((value) => explain(name, check, value) ?? []);
}

function explain(field: string, check: CheckName, value: string): FieldError | undefined {
  const problem = CHECKS[check](value);
  return problem && { field, code: problem.code, message: `${field} ${problem.text}.` };
}
