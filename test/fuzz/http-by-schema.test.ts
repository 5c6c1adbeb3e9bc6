import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { PROBLEMS } from "../../services/edge/problems/problems.ts";
import { type Answer, errorsOf, TEST_KEY } from "../../services/edge/testing/test-edge.ts";
import { documentedRoutes, type Route } from "./http/document.ts";
import { anyBehaviour, startEdge, type FuzzedEdge, SECRET } from "./http/service-behaviour.ts";
import { requestTo } from "./http/requests.ts";
import { FUZZ_TIMEOUT_MS, fuzzAsync } from "./support/fuzz.ts";

let edge: FuzzedEdge;
const routes = documentedRoutes();

beforeAll(async () => {
  edge = await startEdge();
});

test(
  "the answer to any request is documented and lists every invalid field, and no service receives an invalid request",
  async () => {
    const documentedRequests = fc
      .constantFrom(...routes)
      .chain((route) => fc.tuple(fc.constant(route), requestTo(route), anyBehaviour(route)));
    await fuzzAsync(
      "requests made from the documentation",
      1_200,
      documentedRequests,
      async ([route, { request, wrong, isUnusual }, behaviour]) => {
        await edge.setBehaviour(behaviour);
        edge.calls.length = 0;
        const answer = await edge.call(request);
        if (answer.status >= 400 && behaviour.kind === "refuses" && !behaviour.isDocumented) expectProblem(answer);
        else expectDocumented(answer, route);
        expectNoSecret(answer);
        expect(
          JSON.stringify(
            edge.calls.map((call) => call.request),
            withoutBigint,
          ),
        ).not.toMatch(UNSAFE_CHARACTERS);
        if (wrong.length === 0) {
          if (!isUnusual && behaviour.kind === "good") {
            expect([answer.status, answer.text.slice(0, 400)]).toEqual([200, expect.any(String)]);
          }
          return;
        }
        expect([answer.status, edge.calls.length], answer.text).toEqual([422, 0]);
        expect(errorsOf(answer).map(([field]) => field)).toEqual(expect.arrayContaining([...new Set(wrong)]));
      },
    );
  },
  FUZZ_TIMEOUT_MS,
);

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"] as const;
const BODIES = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.json({ maxDepth: 3 }),
  fc.constantFrom(
    "{",
    "[".repeat(20_000),
    `{"a":${"9".repeat(5_000)}}`,
    '{"__proto__":{"a":1}}',
    '{"a":1,"a":2}',
    '"x"',
    "\ufeff{}",
  ),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
);
const HEADERS = fc.dictionary(
  fc.constantFrom(
    "content-type",
    "authorization",
    "x-request-id",
    "idempotency-key",
    "traceparent",
    "accept",
    "expect",
    "x-http-method-override",
  ),
  fc.oneof(
    fc.constantFrom(
      "application/json",
      "application/json; charset=utf-16",
      "text/plain",
      "",
      `Bearer ${TEST_KEY}`,
      "Bearer",
      "Basic x",
      "a/b/c",
    ),
    fc.string({ maxLength: 20 }).filter((text) => /^[\x21-\x7e]*$/.test(text)),
  ),
  { maxKeys: 3 },
);

test(
  "requests of any form are answered with a problem, and the edge stays available",
  async () => {
    const paths = fc.oneof(
      fc.constantFrom(...routes.map(({ path }) => path.replaceAll(/\{[^}]+\}/g, "3000001"))),
      fc.webPath({ size: "small" }).map((path) => `/api/v1${path}`),
      fc.constantFrom(
        "/api/v1/%",
        "/api/v1/info/master/%zz",
        "//",
        "/api/v1/../..",
        `/api/v1/info/balance/${"9".repeat(5_000)}`,
        "/\u0000",
      ),
    );
    const anyRequest = fc.record({
      method: fc.constantFrom(...METHODS),
      url: paths,
      payload: BODIES,
      headers: HEADERS,
    });
    await edge.setBehaviour({ kind: "good" });
    await fuzzAsync("requests of any form", 800, anyRequest, async ({ method, url, payload, headers }) => {
      const answer = await edge.call({
        method,
        url,
        headers,
        ...(method === "GET" || method === "HEAD" ? {} : { payload }),
      });
      expectNoSecret(answer);
      expect(answer.status, answer.text).toBeLessThan(500);
      if (answer.status >= 400 && method !== "HEAD") expectProblem(answer);
    });
    const healthy = await edge.call({ method: "GET", url: "/api/v1/info/balance/3000003" });
    expect(healthy.status).toBe(200);
  },
  FUZZ_TIMEOUT_MS,
);

/** Control characters and unpaired surrogates, which databases and other programs refuse. */
const UNSAFE_CHARACTERS = /\\u00[01]|\\u007f|\\u00[89]|\\ud[89a-f]/i;

function withoutBigint(_name: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}

function expectDocumented(answer: Answer, { problems }: Route): void {
  expect(Object.keys(problems), answer.text).toContain(String(answer.status));
  if (answer.status < 400) return;
  const code = expectProblem(answer);
  expect(problems[String(answer.status)], answer.text).toContain(`\`${code}\``);
}

function expectProblem(answer: Answer): string {
  expect(answer.headers["content-type"], answer.text).toBe("application/problem+json; charset=utf-8");
  const { code, status, title, type, request_id: id } = answer.body as Record<string, unknown>;
  expect([status, type, typeof title]).toEqual([answer.status, `/docs/problems/${String(code)}`, "string"]);
  expect(id).toBe(answer.headers["x-request-id"]);
  expect(Object.keys(PROBLEMS)).toContain(code);
  return String(code);
}

function expectNoSecret({ text, headers }: Answer): void {
  const all = text + JSON.stringify(headers);
  expect([all.includes(TEST_KEY), all.includes(SECRET), /\bat .*\.ts:\d+/.test(text)], text).toEqual([
    false,
    false,
    false,
  ]);
}
