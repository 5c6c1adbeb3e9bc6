import { expect, test } from "vitest";
import { aDeposit } from "../../testing/replies/funding.ts";
import { errorsOf, testEdge } from "../../testing/test-edge.ts";

const URL = "/api/v1/investor/deposit?login=1&amount=1";

test("a JSON body labels a deposit; any other body is none", async () => {
  const edge = await testEdge({ funding: { deposit: async () => aDeposit() } });
  const sentLabels = async (payload: string | object | undefined, contentType = "application/json") => {
    const body = payload === undefined ? {} : { payload, headers: { "content-type": contentType } };
    const answer = await edge.call({ method: "POST", url: URL, ...body });
    expect(answer.status).toBe(200);
    return (edge.calls.at(-1)?.request as { labels: unknown } | undefined)?.labels;
  };
  const metadata = { segment: "retail" };

  expect(await sentLabels({ external_id: "CRM-1", metadata })).toEqual({ externalId: "CRM-1", metadata });
  expect(await sentLabels({ metadata }, "application/json; charset=utf-8")).toEqual({
    externalId: undefined,
    metadata,
  });
  for (const body of [undefined, {}, "", "[]", "null", '{"external_id": 1', { login: "2", amount: "3" }] as const) {
    expect(await sentLabels(body)).toBeUndefined();
  }
  for (const type of ["text/plain", "not a type at all", "application/x-www-form-urlencoded"]) {
    expect(await sentLabels('{"external_id":"CRM-1"}', type)).toBeUndefined();
  }
});

test("all mistakes of query and body are reported at once", async () => {
  const edge = await testEdge();
  const payload = { external_id: 7, metadata: { "a b": "1", ok: 2 } };
  const wrong = await edge.call({ method: "POST", url: "/api/v1/investor/deposit?login=x&amount=0", payload });

  expect(errorsOf(wrong)).toEqual([
    ["login", "malformed"],
    ["amount", "out_of_range"],
    ["external_id", "wrong_type"],
    ["metadata.ok", "wrong_type"],
    ["metadata.a b", "malformed"],
  ]);
  const twice = '{"external_id":"a","external_id":"b"}';
  const headers = { "content-type": "application/json" };
  expect(errorsOf(await edge.call({ method: "POST", url: URL, payload: twice, headers }))).toEqual([
    ["external_id", "duplicate_member"],
  ]);
});
