import { expect, test } from "vitest";
import { Refusal } from "#kernel/refusal.ts";
import { fingerprintOf } from "../../http/idempotency/fingerprint.ts";
import { aMasterProfile, anInvestor, anInvestorProfile } from "../samples/account.ts";
import { errorsOf, testEdge } from "../../testing/test-edge.ts";
import { updateInvestor } from "./update-investor.ts";

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

test("a change of an Investor sets and removes members, and the answer has its labels", async () => {
  const edge = await testEdge({
    accounts: { updateInvestor: async () => anInvestorProfile({ email: undefined, labels: undefined }) },
  });
  const url = "/api/v1/investor/8";
  const change = { name: "Ada L.", external_id: null, metadata: { a: "1", b: null } };
  const answer = await edge.call({ method: "PATCH", url, payload: change });

  expect(answer.body).toMatchObject({ id: 8, email: null, external_id: null, metadata: {} });
  expect(edge.calls.map(({ request }) => request)).toEqual([
    {
      id: 8n,
      name: "Ada L.",
      email: undefined,
      labels: { externalId: "", setMetadata: { a: "1" }, removedMetadata: ["b"] },
    },
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

test("an external id of another account is a conflict with its field", async () => {
  const errors = [{ field: "external_id", code: "external_id_in_use", message: "No." }];
  const refusal = new Refusal({ code: "external_id_in_use", status: "conflict", message: "No.", errors });
  const edge = await testEdge({ accounts: { addInvestor: () => Promise.reject(refusal) } });

  expect(await edge.call({ method: "POST", url: ADD, payload: { ...NEW, external_id: "CRM-1" } })).toMatchObject({
    status: 409,
    body: { code: "external_id_in_use" },
  });
});

test("two requests are the same when only the order of the metadata differs, and another value is another request", () => {
  const of = (metadata: object) => fingerprintOf(updateInvestor, { params: {}, query: {}, body: { metadata } });

  expect(of({ a: "1", b: null })).toEqual(of({ b: null, a: "1" }));
  expect(of({ a: "1", b: null })).not.toEqual(of({ a: "1", b: "" }));
});

test.each(["investors", "masters"] as const)(
  "%s are searched page by page; a cursor is of its list and filter",
  async (list) => {
    const page =
      <Item>(item: Item) =>
      async ({ afterId }: { afterId: bigint }) => ({ items: [item], hasMore: afterId === 0n });
    const accounts = { listInvestors: page(anInvestorProfile()), listMasters: page(aMasterProfile()) };
    const edge = await testEdge({ accounts });
    const url = `/api/v1/${list}?name=Ad&email=ada%40example.com&external_id=CRM-1&created_from=2026-01-01T00:00:00&created_to=2026-02-01T00:00:00Z&limit=1`;
    const first = (await edge.call({ url })).body as { next_cursor: string };
    const second = await edge.call({ url: `${url}&cursor=${first.next_cursor}` });

    expect(second.body).toMatchObject({ next_cursor: null, has_more: false });
    const named = { name: "Ad", email: "ada@example.com", externalId: "CRM-1" };
    const period = { createdFrom: new Date("2026-01-01T00:00:00Z"), createdTo: new Date("2026-02-01T00:00:00Z") };
    expect(edge.calls.map(({ request }) => request)).toEqual([
      { filter: { ...named, ...period }, afterId: 0n, limit: 1 },
      { filter: { ...named, ...period }, afterId: list === "masters" ? 7n : 8n, limit: 1 },
    ]);
    for (const other of [`/api/v1/${list}`, `/api/v1/${list === "masters" ? "investors" : "masters"}?name=Ad`]) {
      const answer = await edge.call({ url: `${other}${other.includes("?") ? "&" : "?"}cursor=${first.next_cursor}` });
      expect(errorsOf(answer)).toEqual([["cursor", "invalid_cursor"]]);
    }
  },
);

test("all invalid fields of a search are reported at once", async () => {
  const edge = await testEdge();
  const wrong = "name=%00&email=x&external_id=%20&created_from=1&created_to=2&limit=0&cursor=x";

  expect(errorsOf(await edge.call({ url: `/api/v1/investors?${wrong}` }))).toEqual([
    ["name", "control_character"],
    ["email", "malformed"],
    ["external_id", "empty"],
    ["created_from", "malformed"],
    ["created_to", "malformed"],
    ["limit", "out_of_range"],
    ["cursor", "invalid_cursor"],
  ]);
  const period = "created_from=2026-02-01T00:00:00Z&created_to=2026-02-01T00:00:00Z";
  expect(errorsOf(await edge.call({ url: `/api/v1/masters?${period}` }))).toEqual([["created_to", "out_of_range"]]);
});

test.each([
  ["GET", "/api/v1/investors", "masters:read"],
  ["GET", "/api/v1/investor/8", "investors:write"],
  ["PATCH", "/api/v1/investor/8", "investors:read"],
  ["GET", "/api/v1/masters", "investors:read"],
  ["GET", "/api/v1/master/7/profile", "masters:write"],
] as const)("%s %s is refused to a key with %s only", async (method, url, scope) => {
  const edge = await testEdge({ scopes: [scope] });

  expect((await edge.call({ method, url, ...(method === "PATCH" ? { payload: { name: "A" } } : {}) })).status).toBe(
    403,
  );
});
