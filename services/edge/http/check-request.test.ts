import { expect, test } from "vitest";
import { DOCUMENTED_ROUTES as ROUTES } from "../api/documented-routes.ts";
import type { DocumentedRoute } from "../api/exchange.ts";
import { aSubscription } from "../api/samples/subscription.ts";
import { type CheckName, CHECKS } from "../fields/checks.ts";
import { refuse } from "../problems/refusals.ts";
import { type Answer, errorsOf, testEdge } from "../testing/test-edge.ts";
import { normalize, TEXTS } from "./check-request.ts";
import type { Route } from "./route.ts";

type Members = Readonly<Record<string, unknown>>;
type Sent = { readonly params?: Members; readonly query?: Members; readonly body?: Members };

const edge = await testEdge({
  app: {
    idempotency: {
      keptMs: 1,
      async claim({ fingerprint }) {
        throw refuse("operation_in_progress", fingerprint.toString("hex"));
      },
      execute: (_claim, work) => work(),
    },
  },
});

const exampleOf = ({ exchanges: [{ request }] }: DocumentedRoute): Sent => request as Sent;

/** Up to the services: what no one answers here is no 422. */
async function send({ method, url }: Route, { params = {}, query = {}, body }: Sent, headers = {}): Promise<Answer> {
  const path = url.replaceAll(/:(\w+)/g, (_, name: string) => String(params[name]));
  const search = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return await edge.call({
    method,
    url: `${path}?${search.join("&")}`,
    headers,
    ...(body === undefined ? {} : { payload: body }),
  });
}

const withQuery = ROUTES.flatMap((route) => (route.query === undefined ? [] : [{ ...route, query: route.query }]));

test("an empty optional parameter of any route is as if it was not given, and an empty comment is a mistake", async () => {
  for (const route of withQuery) {
    const { properties, required = [] } = route.query as { properties: Members; required?: readonly string[] };
    const example = exampleOf(route);
    const needed = Object.fromEntries(required.map((name) => [name, example.query?.[name]]));
    const optional = Object.keys(properties).filter((name) => !required.includes(name) && name !== "comment");
    const query: Record<string, unknown> = { ...needed, ...Object.fromEntries(optional.map((name) => [name, ""])) };

    expect([route.operationId, errorsOf(await send(route, { ...example, query }))]).toEqual([route.operationId, []]);
    normalize(route, { query, body: undefined });
    expect([route.operationId, query]).toEqual([route.operationId, needed]);
    if (!("comment" in properties)) continue;
    const answer = await send(route, { ...example, query: { ...example.query, comment: "" } });
    expect(errorsOf(answer)).toEqual([["comment", "empty"]]);
  }
});

/** NUL is valid for no check. */
const NUL = "\u0000";

test("all fields of any route that have a check are checked, and all mistakes of path, query and body are reported at once", async () => {
  for (const route of ROUTES) {
    const expected: string[][] = [];
    const sent = Object.fromEntries(
      (["params", "query", "body"] as const).map((part) => {
        const checked = Object.entries<object>(route[part]?.properties ?? {}).filter(
          ([, schema]) => "x-check" in schema,
        );
        for (const [name, schema] of checked) {
          const { "x-check": check } = schema as { "x-check": CheckName };
          expected.push([name, CHECKS[check](NUL)?.code ?? "none"]);
        }
        return [part, Object.fromEntries(checked.map(([name]) => [name, NUL]))];
      }),
    ) as Sent;
    const { params, body, ...own } = sent;
    const found = await send(route, {
      ...own,
      params: Object.fromEntries(Object.keys(params ?? {}).map((name) => [name, "%00"])),
      ...(route.body === undefined ? {} : { body: body ?? {} }),
    });

    expect([route.operationId, errorsOf(found)]).toEqual([route.operationId, expect.arrayContaining(expected)]);
  }
  expect(edge.calls).toEqual([]);
});

test("a period of any route has a length", async () => {
  const periods = withQuery.filter(({ query: { properties } }) => "to" in properties || "created_to" in properties);
  expect(periods.length).toBeGreaterThan(6);
  for (const route of periods) {
    const [from = "", to = ""] = Object.keys(route.query.properties).filter((name) =>
      /^(created_)?(from|to)$/.test(name),
    );
    const check = (route.query.properties[from] as { "x-check"?: string })["x-check"];
    const day = check === "day" ? "2026-02-01" : "2026-02-01T00:00:00Z";
    const query = { ...exampleOf(route).query, [from]: day, [to]: check === "day" ? day : "2026-02-01T01:00:00+01:00" };

    expect([route.operationId, errorsOf(await send(route, { ...exampleOf(route), query }))]).toEqual([
      route.operationId,
      [[to, "out_of_range"]],
    ]);
  }
});

test("a message names the years, and a + that has become a space; other mistakes are not explained by it", () => {
  const about = (check: CheckName, value: string) => CHECKS[check](value)?.text;
  for (const instant of ["9999-12-31T23:59:59-02:00", "1969-12-31T23:59:59Z", "0001-01-01T00:00"]) {
    expect(about("datetime", instant)).toContain("in UTC from 1970 to 9999");
  }
  for (const day of ["1969-12-31", "0001-01-01", "10000-01-01"]) expect(about("day", day)).toContain("must be a day");
  const spaces = ["2026-01-31T00:00:00 02:00", "2026-01-31T00:00:00.5 0200", "2026-01-31 00:00:00 02:00"];
  for (const instant of spaces) expect(about("datetime", instant)).toContain("%2B");
  expect([about("amount", " 100.50"), about("email", "ivy mt5@example.com")]).toEqual(
    Array(2).fill(expect.stringContaining("%2B")),
  );
  for (const other of [about("amount", "1,5"), about("datetime", "2026-01-31 00:00:00")]) {
    expect(other).not.toContain("%2B");
  }
});

const [COMPOSED, DECOMPOSED] = ["Dépôt-1", "De\u0301po\u0302t-1"];

test("each text that people write is composed; names in other systems stay as they were sent", () => {
  const names = Object.keys(CHECKS) as CheckName[];
  const written = names.filter((name) => CHECKS[name](DECOMPOSED) === undefined);

  expect(written.filter((name) => TEXTS[name]?.(DECOMPOSED) !== COMPOSED)).toEqual(["metadata_value", "group"]);
  expect(Object.keys(TEXTS).filter((name) => !written.includes(name as CheckName))).toEqual([]);
});

const texts: readonly (readonly [operationId: string, Sent])[] = [
  ["depositFunds", { query: { login: "1", amount: "1", comment: DECOMPOSED }, body: { external_id: DECOMPOSED } }],
  [
    "withdrawFunds",
    { query: { login: "1", amount: "1", comment: DECOMPOSED }, body: { metadata: { desk: DECOMPOSED } } },
  ],
  [
    "updateInvestor",
    { params: { investor_id: "8" }, body: { name: DECOMPOSED, metadata: { a: null, b: DECOMPOSED } } },
  ],
  ["updateMaster", { params: { master_id: "7" }, body: { strategy_name: DECOMPOSED, strategy: `${DECOMPOSED}\n2` } }],
  ["decideReview", { body: { id: "platform-17", action: "acknowledge", note: DECOMPOSED } }],
];

test.each(texts)("two spellings of a text are one request of %s", async (operationId, sent) => {
  const route = ROUTES.find((some) => some.operationId === operationId);
  if (route === undefined) throw new Error(`${operationId} is no route`);
  const fingerprintOf = async (request: Sent) => {
    const answer = await send(route, request, { "idempotency-key": "key-1" });
    return (answer.body as { detail?: string }).detail ?? answer.text;
  };
  const composed = JSON.parse(JSON.stringify(sent).normalize("NFC")) as Sent;
  const other = JSON.parse(JSON.stringify(sent).replaceAll(DECOMPOSED, "Depot-1")) as Sent;

  const fingerprint = await fingerprintOf(sent);
  expect(fingerprint).toMatch(/^[0-9a-f]{64}/);
  expect(await fingerprintOf(composed)).toBe(fingerprint);
  expect(await fingerprintOf(other)).not.toBe(fingerprint);
});

test("the services are asked in the composed form, to store and to search", async () => {
  const asked = await testEdge({
    funding: { deposit: () => Promise.reject(refuse("operation_in_progress", "Seen.")) },
    accounts: { listInvestors: async () => ({ items: [], hasMore: false }) },
  });
  const comment = encodeURIComponent(DECOMPOSED);
  const money = { url: `/api/v1/investor/deposit?login=1&amount=1&comment=${comment}`, method: "POST" } as const;
  await asked.call({ ...money, payload: { external_id: DECOMPOSED, metadata: { a: DECOMPOSED } } });
  await asked.call({ url: `/api/v1/investors?name=${comment}&external_id=${comment}` });

  expect(asked.calls.map(({ request }) => request)).toMatchObject([
    { comment: COMPOSED, labels: { externalId: COMPOSED, metadata: { a: COMPOSED } } },
    { filter: { name: COMPOSED, externalId: COMPOSED } },
  ]);
});

test("a text is as long as its composed form", () => {
  const body = { name: "e\u0301".repeat(255), strategy: "one\r\ntwo\rthree\n", metadata: { a: "e\u0301", b: null } };
  const group = { platform_group: DECOMPOSED };
  const create = ROUTES.find(({ operationId }) => operationId === "createMaster") as Route;
  const request = { query: {}, body: { ...body, ...group } };
  normalize(create, request);

  expect(request.body).toEqual({
    name: "é".repeat(255),
    strategy: "one\ntwo\nthree\n",
    metadata: { a: "é", b: null },
    ...group,
  });
});

test("a request that moves money is refused with its unknown parameters, beside all other mistakes, empty ones included", async () => {
  const deposit = async (query: string) =>
    await edge.call({ method: "POST", url: `/api/v1/investor/deposit?${query}`, headers: {} });
  const answer = await deposit("login=&amount=1&curency=EUR&comnent=&currency=EUR");

  expect(errorsOf(answer)).toEqual([
    ["login", "malformed"],
    ["currency", "currency_not_supported"],
    ["curency", "unknown_parameter"],
    ["comnent", "unknown_parameter"],
  ]);
  expect(answer.headers).not.toHaveProperty("x-ignored-fields");
});

test("every route that moves money or is a preview refuses an unknown query parameter", async () => {
  const refusing = ROUTES.filter(({ class: of, changesNothing }) => of === "money" || changesNothing === true);
  for (const { method, url } of refusing) {
    const answer = await edge.call({ method, url: `${url.replaceAll(/:[a-z0-9_]+/g, "1")}?comnent=x`, payload: {} });
    expect([url, errorsOf(answer)]).toEqual([url, expect.arrayContaining([["comnent", "unknown_parameter"]])]);
  }
});

test("other routes name in a header what they ignore, in a form that a header can have, at most twenty, those inside of a member by their path", async () => {
  const { call } = await testEdge({
    accounts: { listMasters: async () => ({ items: [], hasMore: false }) },
    subscriptions: { assign: async () => ({ subscription: aSubscription() }) },
  });
  const ignored = async (request: Parameters<typeof call>[0]) => (await call(request)).headers["x-ignored-fields"];

  const url = "/api/v1/master/directory?engine=PAMM";
  expect(await ignored({ url })).toBeUndefined();
  const listed = await ignored({ url: `${url}&state=ACTIVE&b%0D%0Ac=1&${"x".repeat(100)}=1` });
  expect(listed).toBe(`state, b%0D%0Ac, ${"x".repeat(64)}`);
  const perf_fee = { rate: 0.2, enabled: true, rat: { e: 1 } };
  const payload = { master_login: "1", investor_login: "2", perf_fee, perf: { fee: 1 } };
  expect(await ignored({ method: "POST", url: "/api/v1/investor/assign", payload })).toBe("perf_fee.rat, perf");
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`m${index}`, index]));
  const named = await ignored({ method: "POST", url: "/api/v1/master/add", payload: many });
  expect(String(named).split(", ")).toHaveLength(20);
});
