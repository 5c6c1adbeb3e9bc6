import { expect, test } from "vitest";
import { ANY_KEY, SCOPES } from "./wire/scopes.ts";
import { ROUTES } from "./api/routes.ts";
import { TEST_KEY, testEdge } from "./testing/test-edge.ts";
import { aMaster } from "./api/samples/account.ts";
import { aDeposit } from "./api/samples/funding.ts";

const DEPOSIT = "/api/v1/investor/deposit?login=3000003&amount=1";
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test("every answer carries the caller's request id, and may not be cached", async () => {
  const edge = await testEdge();
  const sent = await edge.call({ url: "/nothing", headers: { "x-request-id": "CRM-1.a_b" } });
  const generated = await edge.call({ url: "/nothing", headers: { "x-request-id": "not valid" } });

  expect([sent.headers["x-request-id"], sent.headers["cache-control"]]).toEqual(["CRM-1.a_b", "no-store"]);
  expect(generated.headers["x-request-id"]).toMatch(UUID);
  expect(sent.body).toEqual({
    type: "/docs/problems/route_not_found",
    title: "Route not found",
    status: 404,
    detail: "Route GET /nothing does not exist.",
    instance: "/nothing",
    code: "route_not_found",
    request_id: "CRM-1.a_b",
    retryable: false,
  });
});

test("behind trusted proxies the address of a caller is the one before them, without a port", async () => {
  const seen: string[] = [];
  const authenticate = async (_: string, address: string) => void seen.push(address);
  const edge = await testEdge({ app: { authenticate, trustProxy: ["127.0.0.1", "10.0.0.0/8", "fd00::/8"] } });
  const addressOf = async (forwarded: string) => {
    await edge.call({ url: "/api/v1/master/7", headers: { "x-forwarded-for": forwarded } });
    return seen.at(-1);
  };
  expect(await addressOf("1.2.3.4")).toBe("1.2.3.4");
  expect(await addressOf("1.2.3.4:5678")).toBe("1.2.3.4");
  expect(await addressOf("2001:db8::1")).toBe("2001:db8::1");
  expect(await addressOf("[2001:db8::1]")).toBe("2001:db8::1");
  expect(await addressOf("[2001:db8::1]:443")).toBe("2001:db8::1");
  // Of several proxies, and behind what the caller has made up.
  expect(await addressOf("6.6.6.6:1, 1.2.3.4:5678, 10.0.0.7:8080, [fd00::7]:443")).toBe("1.2.3.4");
  expect(await addressOf("unknown")).toBe("unknown");
  expect(await addressOf("1.2.3.4, _hidden:80")).toBe("_hidden:80");
  expect(await addressOf("1.2.3:80")).toBe("1.2.3:80");
});

test("a path that does not exist is 404 whatever is sent to it", async () => {
  const edge = await testEdge();
  for (const method of ["POST", "DELETE"] as const) {
    for (const type of ["application/json", "text/plain"]) {
      const request = { method, url: "/api/v1/deposit", headers: { "content-type": type }, payload: '{"a":' };
      expect(await edge.call(request)).toMatchObject({ status: 404, body: { code: "route_not_found" } });
    }
  }
});

test("every request without a valid API key gets the same answer", async () => {
  const edge = await testEdge();
  const attempts = [
    undefined,
    "",
    "Bearer",
    "Bearer wrong",
    `Basic ${TEST_KEY}`,
    TEST_KEY,
    `Bearer ${"x".repeat(300)}`,
  ];
  const url = "/api/v1/master/7";
  const answers = [];
  for (const authorization of attempts) {
    const headers = { "x-request-id": "same", ...(authorization === undefined ? {} : { authorization }) };
    answers.push(await edge.app.inject({ url, headers }));
  }

  expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
  expect(answers[0]?.json()).toEqual({
    type: "/docs/problems/unauthorized",
    title: "A valid API key is required",
    status: 401,
    detail: "A valid API key is required as a bearer token in the Authorization header.",
    instance: url,
    code: "unauthorized",
    request_id: "same",
    retryable: false,
  });
  expect(answers.map(({ headers }) => headers["www-authenticate"])).toEqual(attempts.map(() => 'Bearer realm="pamm"'));
  expect(edge.calls).toEqual([]);
});

test("the API key is checked before everything else", async () => {
  const edge = await testEdge();
  const answer = await edge.app.inject({ method: "POST", url: "/api/v1/investor/add", payload: "{" });

  expect(answer.statusCode).toBe(401);
});

test("each route requires exactly its own scope, that of a loss which cannot be undone is of one route, and one route needs none", async () => {
  const edge = await testEdge({ scopes: [] });
  const answers = ROUTES.map(async ({ method, url }) => {
    const { status, body } = await edge.call({ method, url: url.replaceAll(/:[a-z0-9_]+/g, "1") });
    return [method, url, status, (body as { required_scope: string }).required_scope];
  });

  expect(await Promise.all(answers)).toEqual(
    ROUTES.map(({ method, url, scope }) => {
      return scope === ANY_KEY ? [method, url, 200, undefined] : [method, url, 403, scope];
    }),
  );
  expect(edge.calls).toEqual([]);
  const operationsOf = (one: string) => ROUTES.filter(({ scope }) => scope === one).map((route) => route.operationId);
  expect([ANY_KEY, "masters:close", "investors:erase"].map(operationsOf)).toEqual([
    ["getApiKey"],
    ["closeMaster"],
    ["eraseInvestor"],
  ]);
  expect(ROUTES.filter(({ scope }) => scope !== ANY_KEY && !SCOPES.includes(scope))).toEqual([]);
});

test("a method that a path does not have is refused, and the Allow header lists the others", async () => {
  const { call } = await testEdge();
  for (const [method, url, allow] of [
    ["GET", "/api/v1/master/add", "POST, OPTIONS"],
    ["PATCH", "/api/v1/master/directory", "GET, HEAD, OPTIONS"],
    ["DELETE", "/api/v1/master/7", "GET, PATCH, HEAD, OPTIONS"],
  ] as const) {
    const refused = await call({ method, url, ...(method === "GET" ? {} : { payload: "{" }) });
    expect([refused.status, refused.headers["allow"], refused.body]).toMatchObject([
      405,
      allow,
      { code: "method_not_allowed" },
    ]);
    const options = await call({ method: "OPTIONS", url });
    expect([options.status, options.headers["allow"], options.text]).toEqual([204, allow, ""]);
  }
});

test("HEAD is answered like GET without the body", async () => {
  const edge = await testEdge({ accounts: { getMaster: async () => aMaster() } });
  const [head, get] = [
    await edge.call({ method: "HEAD", url: "/api/v1/master/7" }),
    await edge.call({ method: "GET", url: "/api/v1/master/7" }),
  ];

  expect([head.status, head.text, head.headers["content-length"]]).toEqual([200, "", get.headers["content-length"]]);
  expect([get.headers["x-operation-id"], edge.calls[0]?.context.commandId], "of a query").toEqual([undefined, ""]);
});

test.each([
  ["empty although its media type is JSON", "", 400, "malformed_json"],
  ["larger than 64 KiB", `"${"x".repeat(65 * 1024)}"`, 413, "body_too_large"],
])("a body that is %s is refused with its own code", async (_what, payload, status, code) => {
  const { call } = await testEdge();
  const headers = { "content-type": "application/json" };
  const answer = await call({ method: "POST", url: "/api/v1/investor/add", payload, headers });

  expect([answer.status, answer.body]).toMatchObject([status, { code, status, outcome: "not_executed" }]);
  expect(answer.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
});

test("a URL of more than 8 KiB is refused", async () => {
  const edge = await testEdge();
  const answer = await edge.call({ method: "POST", url: `${DEPOSIT}&comment=${"x".repeat(8 * 1024)}` });

  expect([answer.status, answer.body]).toMatchObject([414, { code: "url_too_long" }]);
});

test("a path with broken percent encoding is refused with a problem", async () => {
  const edge = await testEdge();
  const answer = await edge.call({ url: "/api/v1/master/%ff", headers: { "x-request-id": "r1" } });

  expect([answer.status, answer.body]).toMatchObject([400, { code: "bad_request", status: 400, request_id: "r1" }]);
  expect([answer.headers["x-request-id"], answer.headers["cache-control"]]).toEqual(["r1", "no-store"]);
});

test("a command has the id that its answer returns, and the caller's request id", async () => {
  const edge = await testEdge({
    funding: { deposit: async (_request, { commandId }) => aDeposit({ operationId: commandId }) },
  });
  const answer = await edge.call({ method: "POST", url: DEPOSIT, headers: { "x-request-id": "r1" } });
  const [{ context } = { context: undefined }] = edge.calls;

  expect(answer.headers["x-operation-id"]).toMatch(UUID);
  expect(context).toMatchObject({
    requestId: "r1",
    commandId: answer.headers["x-operation-id"],
    caller: "edge",
  });
  const remainingMs = (context?.deadline.getTime() ?? 0) - Date.now();
  expect(remainingMs).toBeGreaterThan(8_000);
  expect(remainingMs).toBeLessThan(10_000);
});
