import { expect, test } from "vitest";
import { type Client, json } from "../support/client.ts";
import { expectProblem } from "../support/problem.ts";
import { text } from "../support/shape.ts";

/** The specification, section 4. */
const SPECIFIED = [
  "GET /master/directory",
  "POST /master/add",
  "POST /master/create",
  "GET /master/1",
  "PATCH /master/1",
  "GET /info/master/1",
  "GET /info/master/1/investors",
  "GET /investor/directory",
  "POST /investor/add",
  "POST /investor/create",
  "GET /info/investor/1",
  "GET /info/investor/1/master",
  "POST /investor/assign",
  "POST /subscriptions/unassign",
  "GET /info/subscriptions",
  "POST /investor/deposit",
  "POST /investor/withdraw",
  "GET /info/balance/1",
  "GET /investor/1/performance-fee",
  "POST /investor/perf-fee/update",
  "GET /perf-fee/transactions",
  "GET /perf-fee/master/1/investor-payments",
] as const;

/** Routes that the specification does not have. */
const ADDITIONAL = [
  "GET /operations",
  "GET /operations/1",
  "GET /operations/1/attempts",
  "GET /info/master/1/proof",
  "GET /investor/1/performance-fee/versions",
  "DELETE /investor/1/performance-fee/versions/1",
  "GET /ops/breaks",
  "GET /ops/reviews",
  "GET /ops/permits",
  "POST /ops/reviews",
  "POST /ops/accounts/1/read-again",
  "GET /ops/accounts/1/read-again",
  "POST /ops/investors/1/erase",
  "GET /whoami",
  "GET /master/1/status",
  "POST /master/1/close",
  "POST /investor/withdraw/preview",
  "POST /subscriptions/unassign/preview",
  "POST /investor/assign/preview",
  "GET /events",
  "POST /webhooks",
  "GET /webhooks",
  "GET /webhooks/1",
  "PATCH /webhooks/1",
  "DELETE /operations/1",
  "DELETE /webhooks/1",
  "POST /webhooks/1/rotate",
  "POST /webhooks/1/replay",
  "GET /webhooks/1/deliveries",
  "GET /masters",
  "GET /master/1/profile",
  "GET /investors",
  "GET /investor/1",
  "PATCH /investor/1",
  "GET /subscriptions",
  "GET /info/balances",
  "GET /info/investor/1/equity",
  "GET /info/investor/1/allocations",
  "GET /info/investor/1/statement",
  "GET /info/master/1/performance",
  "GET /info/master/1/results",
  "GET /investor/1/performance-fee/pending",
  "GET /perf-fee/payments/1/explanation",
  "GET /info/master/1/profile",
  "GET /ops/reviews/1",
  "GET /ops/keys",
  "GET /ops/breaks/1",
  "GET /perf-fee/runs",
  "GET /perf-fee/runs/1",
  "GET /perf-fee/runs/1/payments",
  "GET /perf-fee/investor/1/payments",
] as const;

const ROUTES = [...SPECIFIED, ...ADDITIONAL];

const MAX_BODY_BYTES = 64 * 1024;
const MAX_URL_LENGTH = 8 * 1024;

export function accessRules(client: () => Client): void {
  test.each(ROUTES)("%s needs a key and accepts no other method", async (route) => {
    const [method = "", path = ""] = route.split(" ");
    for (const authorization of ["", "Bearer nonsense", "Basic cGFtbTpwYW1t"]) {
      const reply = await client().send(`/api/v1${path}`, { method, headers: { authorization } });
      const isCommand = method !== "GET" && !path.endsWith("/preview");
      const outcome = isCommand ? ({ outcome: "not_executed" } as const) : {};
      expectProblem(reply, { status: 401, code: "unauthorized", ...outcome });
      expect(reply.headers.get("www-authenticate")).toBe('Bearer realm="pamm"');
    }
    const other = await client().send(`/api/v1${path}`, { method: "PUT" });
    expectProblem(other, { status: 405, code: "method_not_allowed" });
    expect(other.headers.get("allow")).toContain(method);
  });

  test("an unknown route is answered 404", async () => {
    expectProblem(await client().get("/api/v1/nothing"), { status: 404, code: "route_not_found" });
  });

  test("bodies that are not JSON or too large, and URLs that are too long, are refused", async () => {
    const create = (init: RequestInit) => client().send("/api/v1/investor/create", { method: "POST", ...init });
    const refused = { outcome: "not_executed" } as const;
    const broken = await create({ body: "{", headers: { "content-type": "application/json" } });
    expectProblem(broken, { ...refused, status: 400, code: "malformed_json" });
    const form = await create({ body: "a=b", headers: { "content-type": "application/x-www-form-urlencoded" } });
    expectProblem(form, { ...refused, status: 415, code: "unsupported_media_type" });
    const large = await create(json({ name: "x".repeat(MAX_BODY_BYTES) }));
    expectProblem(large, { ...refused, status: 413, code: "body_too_large" });
    const long = await client().get(`/api/v1/info/subscriptions?master_login=${"1".repeat(MAX_URL_LENGTH)}`);
    expectProblem(long, { status: 414, code: "url_too_long" });
  });

  test("a valid request id is returned", async () => {
    const send = (id: string) => client().send("/api/v1/nothing", { method: "GET", headers: { "x-request-id": id } });
    expect((await send("crm-77.a_b")).headers.get("x-request-id")).toBe("crm-77.a_b");
    expect((await send("no spaces please")).headers.get("x-request-id")).not.toContain(" ");
  });

  test("health needs no key, and the API document has every route", async () => {
    for (const path of ["/healthz", "/readyz"]) {
      const { status } = await client().send(path, { method: "GET", headers: { authorization: "" } });
      expect([path, status]).toEqual([path, 200]);
    }
    const { text: document } = await client().send("/openapi.json", { method: "GET" });
    const { openapi, paths } = JSON.parse(document) as { openapi: string; paths: Record<string, object> };
    expect(openapi).toMatch(/^3\.1\./);
    const documented = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map(
        (method) => `${method.toUpperCase()} ${path.replace("/api/v1", "").replaceAll(/\{.*?\}/g, "1")}`,
      ),
    );
    expect(documented.toSorted()).toEqual(ROUTES.toSorted());
    expect(text.accepts(document)).toBe(true);
  });
}
