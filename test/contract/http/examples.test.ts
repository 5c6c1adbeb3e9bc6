import { expect, test } from "vitest";
import { isCommand } from "../../../services/edge/http/request-state.ts";
import type { Route } from "../../../services/edge/http/route.ts";
import { ROUTES } from "../../../services/edge/api/routes.ts";
import { testEdge } from "../../../services/edge/testing/test-edge.ts";
import type { Case } from "./case.ts";
import { CASES } from "./cases.ts";
import { MORE_CASES } from "./more-cases.ts";

const EXAMPLES = ROUTES.flatMap((route) => [
  ...route.examples.map((example) => ({ route, example, status: 200 })),
  ...acceptedExamples(route).map((example) => ({ route, example, status: 202 })),
]);

/** Everything that the documentation shows is sent to the real edge, whose answer has to be what the documentation shows. */
test.for(EXAMPLES)("the documented example is a true exchange: $route.operationId, $example.name", async (one) => {
  const { route, example, status } = one;
  const request = requestOf(route, example.request);
  const same = [...CASES, ...MORE_CASES].find((each) => isSame(each, request));
  expect(same, `no case of ${JSON.stringify(request)}`).toBeDefined();

  const { call } = await testEdge(same?.answers);
  const { url, method, body } = request;
  const answer = await call({ method, url, ...(body === undefined ? {} : { payload: body }) });

  expect([answer.status, answer.body]).toEqual([status, example.answer]);
  expect(answer.headers["x-ignored-fields"]).toBeUndefined();
  expect(answer.headers["x-operation-id"] !== undefined).toBe(isCommand(route));
});

test("the examples of one operation have different names", () => {
  for (const route of ROUTES) {
    const { operationId, examples } = route;
    const names = [...examples, ...acceptedExamples(route)].map(({ name }) => name);
    expect([operationId, names]).toEqual([operationId, [...new Set(names)]]);
  }
});

function acceptedExamples(route: Route): Route["examples"] | [] {
  return route.kind === "object" ? (route.accepted?.examples ?? []) : [];
}

type Request = Pick<Case, "method" | "url"> & { readonly body?: object | undefined };
type Parts = {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
};

function requestOf({ method, url }: Route, request: object): Request {
  const { params = {}, query = {}, body } = request as Parts;
  const path = url.replaceAll(/:([a-z0-9_]+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
  const search = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return { method, url: search.length === 0 ? path : `${path}?${search.join("&")}`, body };
}

function isSame(one: Case, { method, url, body }: Request): boolean {
  return one.method === method && one.url === url && JSON.stringify(one.body) === JSON.stringify(body);
}
