import { isCommand, type Route } from "../../../services/edge/http/route.ts";
import { ANY_KEY } from "../../../services/edge/wire/scopes.ts";
import type { KindOfRoute } from "../../../services/edge/problems/entry.ts";
import { CODES, PROBLEMS, type ProblemCode } from "../../../services/edge/problems/problems.ts";
import { fieldsOf } from "./wrong-field.ts";

const IS_OF: Readonly<Record<KindOfRoute, (route: Route) => boolean>> = {
  all: () => true,
  with_scope: ({ scope }) => scope !== ANY_KEY,
  with_path: ({ params }) => params !== undefined,
  with_body: ({ body }) => body !== undefined,
  commands: isCommand,
};

/** Every code that a request to this route can be answered with. */
export function codesOf(route: Route): ReadonlySet<ProblemCode> {
  const others = Map.groupBy(
    CODES.filter((code) => answers(route, code)),
    (code) => PROBLEMS[code].answered?.by === "commands",
  );
  return new Set([...(others.get(false) ?? []), ...route.refusals, ...(others.get(true) ?? [])]);
}

function answers(route: Route, code: ProblemCode): boolean {
  const { by = [] } = PROBLEMS[code].answered ?? {};
  return typeof by === "string" ? IS_OF[by](route) : by.some((field) => Object.hasOwn(fieldsOf(route), field));
}
