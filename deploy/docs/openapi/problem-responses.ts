import type { Problem, RequestFacts } from "../../../services/edge/problems/problem.ts";
import { PROBLEM_MEANINGS } from "../../../services/edge/problems/meanings.ts";
import { PROBLEMS, type ProblemCode } from "../../../services/edge/problems/problems.ts";
import { isCommand } from "../../../services/edge/http/request-state.ts";
import type { Route } from "../../../services/edge/http/route.ts";
import type { Components, Json } from "./components.ts";
import { type AnswerHeader, answerHeaders } from "./headers.ts";
import { codesOf } from "./problem-codes.ts";
import { AN_OPERATION, noOperation, type OwnFacts, sampleProblem } from "./problem-samples.ts";
import { pascal, problemUnion } from "./problem-schemas.ts";
import { wrongField, wrongFieldWith } from "./wrong-field.ts";

/** Refused before the route is reached, so the answers of all operations are alike and are declared once. */
const BEFORE_THE_ROUTE: ReadonlySet<ProblemCode> = new Set([
  "bad_request",
  "malformed_json",
  "unauthorized",
  "insufficient_scope",
  "method_not_allowed",
  "request_timeout",
  "body_too_large",
  "url_too_long",
  "unsupported_media_type",
  "expectation_failed",
  "rate_limited",
  "headers_too_large",
  "internal_error",
]);
/** Bytes that are not a request have no path, and nothing is known about what they asked for. */
const WITHOUT_A_PATH: ReadonlySet<ProblemCode> = new Set(["bad_request", "request_timeout", "headers_too_large"]);
/** Answered without an operation, so there is no outcome and no id. */
const WITHOUT_AN_OPERATION: ReadonlySet<ProblemCode> = new Set([...WITHOUT_A_PATH, "method_not_allowed"]);
/** Answered before the key is known. */
const WITHOUT_A_RATE: ReadonlySet<ProblemCode> = new Set([
  ...WITHOUT_A_PATH,
  "unauthorized",
  "method_not_allowed",
  "url_too_long",
  "expectation_failed",
]);
const OTHER_HEADERS: Readonly<Partial<Record<ProblemCode, AnswerHeader>>> = {
  unauthorized: "WWW-Authenticate",
  method_not_allowed: "Allow",
};

/** An operation whose problems are described; of answers that all operations share, one that stands for all. */
type Subject = { readonly route: Route; readonly path: string; readonly scope: string };

/** The problems that an operation can answer, by status. `path` is that of its example. */
export function problemResponses(route: Route, path: string, components: Components): Json {
  const byStatus = [...Map.groupBy(codesOf(route), (code) => PROBLEMS[code].status)];
  const responses = byStatus
    .toSorted(([left], [right]) => left - right)
    .map(([status, codes]) => {
      const isShared = codes.every((code) => BEFORE_THE_ROUTE.has(code));
      if (!isShared) return [status, responseOf(codes, { route, path, scope: route.scope }, components)];
      const name = `${isCommand(route) ? "Command" : ""}${codes.map(pascal).join("Or")}`;
      const any = { route, ...(isCommand(route) ? ANY_COMMAND : ANY_QUERY) };
      return [status, components.refer("responses", name, name, () => responseOf(codes, any, components))];
    });
  return Object.fromEntries(responses);
}

function isAboutCommand(codes: readonly ProblemCode[], route: Route): boolean {
  return isCommand(route) && codes.some((code) => !WITHOUT_AN_OPERATION.has(code));
}

const ANY_QUERY = { path: "/api/v1/info/balance/3000003", scope: "investors:read" };
const ANY_COMMAND = { path: "/api/v1/investor/deposit", scope: "funds:deposit" };

function responseOf(codes: readonly ProblemCode[], subject: Subject, components: Components): Json {
  const samples = codes.map((code) => sampleOf(code, subject));
  const names: AnswerHeader[] = [
    "X-Request-Id",
    ...(isAboutCommand(codes, subject.route) ? (["X-Operation-Id"] as const) : []),
    ...codes.flatMap((code) => OTHER_HEADERS[code] ?? []),
    ...(samples.some(({ retryAfterSeconds }) => retryAfterSeconds !== undefined) ? (["Retry-After"] as const) : []),
    ...(codes.every((code) => WITHOUT_A_RATE.has(code)) ? [] : (["RateLimit-Policy", "RateLimit"] as const)),
  ];
  const examples = samples.map(({ code, body }) => [code, { summary: PROBLEMS[code].title, value: body }]);
  return {
    description: codes.map((code) => `\`${code}\`: ${PROBLEM_MEANINGS[code]}`).join("\n\n"),
    headers: answerHeaders(names, components),
    content: {
      "application/problem+json": {
        schema: problemUnion(codes, components),
        examples: Object.fromEntries(examples),
      },
    },
  };
}

/** A true problem with this code: of a deposit where a deposit can be answered so, otherwise of the first route that can. */
export function problemExample<R extends Route>(
  code: ProblemCode,
  routes: readonly R[],
  pathOf: (route: R) => string,
): unknown {
  const answering = routes.filter((route) => codesOf(route).has(code));
  const route =
    answering.find(({ class: kind, scope }) => kind === "money" && scope === "funds:deposit") ??
    answering[0] ??
    routes[0];
  return route === undefined ? undefined : sampleOf(code, { route, path: pathOf(route), scope: route.scope }).body;
}

function sampleOf(code: ProblemCode, subject: Subject): Problem {
  const facts: RequestFacts = {
    requestId: "0198c0de-0000-7000-8000-000000000000",
    path: WITHOUT_A_PATH.has(code) ? "/" : subject.path,
    intent: isAboutCommand([code], subject.route) ? "command" : "query",
    operationId: AN_OPERATION,
    wasSent: false,
    lookUp: subject.route.lookUp,
    mayHaveComeBefore: false,
  };
  return sampleProblem(code, facts, ownFacts(code, subject));
}

const OPERATION_IN_PATH = /^\/api\/v1\/operations\/([^/]+)/;

function ownFacts(code: ProblemCode, { route, path, scope }: Subject): OwnFacts {
  const [, operationId] = OPERATION_IN_PATH.exec(path) ?? [];
  if (code === "operation_not_found" && operationId !== undefined) return { message: noOperation(operationId) };
  if (code === "operation_not_cancellable" && operationId !== undefined) return { operationId };
  if (code === "insufficient_scope") {
    return { message: `The API key lacks the scope ${scope}.`, details: { required_scope: scope } };
  }
  if (code === "master_not_found" && route.params?.properties["master_id"] !== undefined) {
    return { message: "No Master has the id 7. This route takes the internal id, not the login." };
  }
  const error = code === "validation_failed" ? wrongField(route) : wrongFieldWith(route, code);
  return error === undefined ? {} : { errors: [error] };
}
