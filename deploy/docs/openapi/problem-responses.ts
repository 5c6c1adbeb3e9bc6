import { RETRY_AFTER_MS } from "#kernel/values/refusal.ts";
import { invalid, type Problem, problemOf } from "../../../services/edge/problems/problem.ts";
import { reaches, type Sample, type SampledRequest } from "../../../services/edge/problems/entry.ts";
import { AN_OPERATION, PROBLEMS, type ProblemCode } from "../../../services/edge/problems/problems.ts";
import { refuse } from "../../../services/edge/problems/refusals.ts";
import type { DocumentedRoute } from "../../../services/edge/api/exchange.ts";
import { isCommand } from "../../../services/edge/http/route.ts";
import type { Components, Json } from "./components.ts";
import { type AnswerHeader, answerHeaders } from "./headers.ts";
import { codesOf } from "./problem-codes.ts";
import { pascal, problemUnion } from "./problem-schemas.ts";
import { wrongField } from "./wrong-field.ts";

/** An operation whose problems are described, and a request; of answers that all operations share, one that stands for all. */
type Subject = SampledRequest & { readonly route: DocumentedRoute; readonly path: string };

/** The problems that an operation can answer, by status. */
export function problemResponses(route: DocumentedRoute, components: Components): Json {
  const byStatus = [...Map.groupBy(codesOf(route), (code) => PROBLEMS[code].status)];
  const responses = byStatus
    .toSorted(([left], [right]) => left - right)
    .map(([status, codes]) => {
      const isOwn = codes.some((code) => reaches(PROBLEMS[code], "route"));
      if (isOwn) return [status, responseOf(codes, subjectOf(route), components)];
      const name = `${isCommand(route) ? "Command" : ""}${codes.map(pascal).join("Or")}`;
      const any = { route, params: {}, ...(isCommand(route) ? ANY_COMMAND : ANY_QUERY) };
      return [status, components.refer("responses", name, name, () => responseOf(codes, any, components))];
    });
  return Object.fromEntries(responses);
}

const ANY_QUERY = { path: "/api/v1/info/balance/3000003", scope: "investors:read" } as const;
const ANY_COMMAND = { path: "/api/v1/investor/deposit", scope: "funds:deposit" } as const;

function subjectOf(route: DocumentedRoute): Subject {
  const { scope, exchanges } = route;
  return { route, path: pathOf(route), scope, params: exchanges[0].request.params ?? {} };
}

/** The path that problems show. */
export function pathOf({ url, exchanges: [{ request }] }: DocumentedRoute): string {
  const { params } = request;
  return url.replaceAll(/:([a-z0-9_]+)/g, (_, name: string) => params?.[name] ?? "");
}

function responseOf(codes: readonly ProblemCode[], subject: Subject, components: Components): Json {
  const samples = codes.map((code) => sampleOf(code, subject));
  const entries = codes.map((code) => PROBLEMS[code]);
  const hasOperation = isCommand(subject.route) && entries.some((entry) => reaches(entry, "key"));
  const hasRate = entries.some((entry) => reaches(entry, "admission"));
  const names: AnswerHeader[] = [
    "X-Request-Id",
    ...(hasOperation ? (["X-Operation-Id"] as const) : []),
    ...entries.flatMap(({ header }) => header ?? []),
    ...(entries.some(({ advice }) => advice === undefined) ? (["Retry-After"] as const) : []),
    ...(hasRate ? (["RateLimit-Policy", "RateLimit"] as const) : []),
  ];
  const examples = samples.map(({ code, body }) => [code, { summary: PROBLEMS[code].title, value: body }]);
  return {
    description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].meaning}`).join("\n\n"),
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
export function problemExample(code: ProblemCode, routes: readonly DocumentedRoute[]): unknown {
  const answering = routes.filter((route) => codesOf(route).has(code));
  const route =
    answering.find(({ class: kind, scope }) => kind === "money" && scope === "funds:deposit") ??
    answering[0] ??
    routes[0];
  return route === undefined ? undefined : sampleOf(code, subjectOf(route)).body;
}

/** The problem as the edge writes it. */
function sampleOf(code: ProblemCode, subject: Subject): Problem {
  const { route, path } = subject;
  const entry = PROBLEMS[code];
  const problem = problemOf(sampleRefusal(code, subject), {
    requestId: "0198c0de-0000-7000-8000-000000000000",
    path: reaches(entry, "path") ? path : "/",
    intent: isCommand(route) && reaches(entry, "head") ? "command" : "query",
    operationId: AN_OPERATION,
    wasSent: false,
    lookUp: route.lookUp,
    mayHaveComeBefore: false,
  });
  if (problem.code !== code) throw new Error(`the sample of ${code} is answered as ${problem.code}`);
  return problem;
}

function sampleRefusal(code: ProblemCode, subject: Subject) {
  const error = wrongField(subject.route, code);
  if (error !== undefined) return invalid([error]);
  const { sample = "", members = {}, advice } = PROBLEMS[code];
  const given = typeof sample === "function" ? sample(subject) : sample;
  const { detail, ...extra }: Sample = typeof given === "string" ? { detail: given } : given;
  const details = Object.fromEntries(Object.entries(members).map(([name, { example }]) => [name, String(example)]));
  const retry = advice === undefined ? { retryAfterMs: RETRY_AFTER_MS } : {};
  return refuse(code, detail, { outcome: "not_executed", details, ...retry, ...extra });
}
