import { expect, test } from "vitest";
import { anInvestor } from "../samples/account.ts";
import { errorsOf, testEdge } from "../../testing/test-edge.ts";

const ADD = "/api/v1/investor/add";
const NEW = { mt5_login: "3000003", name: "Ada" };

test("an account is registered with labels, and its documented answer has none of them", async () => {
  const edge = await testEdge({ accounts: { addInvestor: async () => anInvestor() } });
  const labels = { external_id: "CRM-1", metadata: { segment: "retail" } };
  const answer = await edge.call({ method: "POST", url: ADD, payload: { ...NEW, ...labels } });
  await edge.call({ method: "POST", url: ADD, payload: NEW });

  expect(Object.keys(answer.body as object)).toEqual(["engine", "id", "mt5_login", "name", "created_at"]);
  expect(edge.calls.map(({ request }) => request)).toEqual([
    { login: "3000003", name: "Ada", labels: { externalId: "CRM-1", metadata: { segment: "retail" } } },
    { login: "3000003", name: "Ada", labels: undefined },
  ]);
});

test("all mistakes of labels are reported at once, each with its key", async () => {
  const edge = await testEdge();
  const many = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`k${index}`, "v"]));
  const send = async (metadata: unknown, more: object = {}) =>
    errorsOf(await edge.call({ method: "POST", url: ADD, payload: { ...NEW, metadata, ...more } }));

  expect(await send({ "a b": "1", long: "x".repeat(501), control: "\u0007" }, { external_id: " ", name: "" })).toEqual([
    ["name", "empty"],
    ["external_id", "empty"],
    ["metadata.a b", "malformed"],
    ["metadata.long", "too_long"],
    ["metadata.control", "control_character"],
  ]);
  expect(await send(many)).toEqual([["metadata", "too_many"]]);
  expect(await send({ "a/b~c": 1, ["k".repeat(41)]: "\n", "": "" })).toEqual([
    ["metadata.a/b~c", "malformed"],
    [`metadata.${"k".repeat(40)}`, "malformed"],
    ["metadata.", "malformed"],
  ]);
  expect(await send(Object.fromEntries(Array.from({ length: 500 }, (_, key) => [`-${key}`, "v"])))).toHaveLength(100);
  expect(await send({ number: 1 })).toEqual([["metadata.number", "wrong_type"]]);
  expect(await send({ gone: null })).toEqual([["metadata.gone", "wrong_type"]]);
  expect(await send("text")).toEqual([["metadata", "wrong_type"]]);
  expect(await send({ ["__proto__"]: "1" })).toEqual([["metadata.__proto__", "malformed"]]);
  const empty = await edge.call({ method: "PATCH", url: "/api/v1/investor/8", payload: {} });
  expect(errorsOf(empty)).toEqual([["body", "required"]]);
});

test("profiles are searched with the whole filter", async () => {
  const { call, calls } = await testEdge({ accounts: { listInvestors: async () => ({ items: [], hasMore: false }) } });
  const named = "name=Ad&email=ada%40example.com&external_id=CRM-1";
  await call({ url: `/api/v1/investors?${named}&created_from=2026-01-01T00:00:00&created_to=2026-02-01T00:00:00Z` });

  const period = { createdFrom: new Date("2026-01-01T00:00:00Z"), createdTo: new Date("2026-02-01T00:00:00Z") };
  const filter = { name: "Ad", email: "ada@example.com", externalId: "CRM-1", ...period };
  expect(calls.map(({ request }) => request)).toEqual([{ filter, afterId: 0n, limit: 50 }]);
});
