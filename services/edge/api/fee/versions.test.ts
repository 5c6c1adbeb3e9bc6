import { expect, test } from "vitest";
import { Refusal } from "#kernel/refusal.ts";
import { errorsOf, testEdge } from "../../testing/test-edge.ts";
import { aFeeConfiguration, aFeeVersion } from "../samples/fee.ts";
import { AT, AT_TEXT, LARGE, LATER_TEXT } from "../samples/values.ts";

const VERSIONS = "/api/v1/investor/3000003/performance-fee/versions";

test("versions are listed in pages, the newest first", async () => {
  const page = { investorLogin: "3000003", items: [aFeeVersion({ id: LARGE })] };
  const edge = await testEdge({
    fees: { listVersions: async ({ beforeId }) => ({ ...page, hasMore: beforeId === 0n }) },
  });
  const first = await edge.call({ url: VERSIONS });
  const last = await edge.call({ url: `${VERSIONS}?limit=500&cursor=21` });
  await edge.call({ url: `${VERSIONS}?cursor=0` });

  expect(first.text).toBe(
    `{"investor_login":"3000003","items":[{"id":${LARGE},"rate":"0.250000","enabled":true,"effective_since":"${LATER_TEXT}","created_at":"${AT_TEXT}","state":"scheduled"}],"next_cursor":${LARGE},"has_more":true}`,
  );
  expect(last.body).toMatchObject({ next_cursor: null, has_more: false });
  expect(edge.calls.map(({ request }) => request)).toEqual([
    { investorLogin: "3000003", beforeId: 0n, limit: 100 },
    { investorLogin: "3000003", beforeId: 21n, limit: 500 },
    { investorLogin: "3000003", beforeId: 1n, limit: 100 },
  ]);
});

test("a scheduled version is cancelled and returned, whatever body is sent", async () => {
  const edge = await testEdge({ fees: { cancelVersion: async () => aFeeVersion({ state: "cancelled" }) } });
  const answer = await edge.call({
    method: "DELETE",
    url: `${VERSIONS}/17`,
    payload: "{",
    headers: { "content-type": "application/json" },
  });

  expect([answer.status, answer.body]).toMatchObject([200, { id: 17, state: "cancelled" }]);
  expect(edge.calls).toMatchObject([
    { method: "cancelVersion", request: { investorLogin: "3000003", versionId: 17n } },
  ]);
  expect(answer.headers["x-operation-id"]).toBe(edge.calls[0]?.context.commandId);
  expect(edge.audited).toMatchObject([
    {
      method: "DELETE",
      route: "/api/v1/investor/:investor_login/performance-fee/versions/:version_id",
      decision: "allowed",
    },
  ]);
});

test.each([
  ["fee_version_not_found", "not_found", 404, {}],
  ["fee_version_not_scheduled", "conflict", 409, { state: "in_force" }],
  ["investor_not_found", "not_found", 404, {}],
] as const)("%s is answered as nothing executed", async (code, status, shown, details) => {
  const refusal = new Refusal({ code, status, message: "No.", details });
  const edge = await testEdge({ fees: { cancelVersion: () => Promise.reject(refusal) } });
  const answer = await edge.call({ method: "DELETE", url: `${VERSIONS}/17` });

  expect([answer.status, answer.body]).toMatchObject([shown, { code, outcome: "not_executed", ...details }]);
});

test("the parameters of both routes are checked", async () => {
  const edge = await testEdge();
  const list = await edge.call({ url: "/api/v1/investor/x/performance-fee/versions?limit=501" });
  const cancel = await edge.call({ method: "DELETE", url: `${VERSIONS}/first?force=true` });

  expect(errorsOf(list)).toEqual([
    ["investor_login", "malformed"],
    ["limit", "out_of_range"],
  ]);
  expect(errorsOf(cancel)).toEqual([
    ["version_id", "malformed"],
    ["force", "unknown_parameter"],
  ]);
});

test("a key without fees:write cannot cancel, and one without fees:read cannot list", async () => {
  const reader = await testEdge({ scopes: ["fees:read"] });
  const writer = await testEdge({ scopes: ["fees:write"] });
  const answers = [
    await reader.call({ method: "DELETE", url: `${VERSIONS}/17` }),
    await writer.call({ url: VERSIONS }),
  ];

  expect(answers).toMatchObject([
    { status: 403, body: { required_scope: "fees:write" } },
    { status: 403, body: { required_scope: "fees:read" } },
  ]);
});

test("the header of an update says since when it re-rates results, and is absent when it does not", async () => {
  const answers = [aFeeConfiguration({ retroactiveSince: AT }), aFeeConfiguration()];
  const edge = await testEdge({ fees: { updateConfiguration: async () => answers.shift()! } });
  const update = () =>
    edge.call({ method: "POST", url: "/api/v1/investor/perf-fee/update", payload: { investor_login: "1", rate: 0 } });

  expect((await update()).headers["x-retroactive-since"]).toBe(AT_TEXT);
  expect((await update()).headers).not.toHaveProperty("x-retroactive-since");
});
