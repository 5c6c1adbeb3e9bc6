import { expect, test } from "vitest";
import { Refusal } from "#kernel/refusal.ts";
import { errorsOf, testEdge } from "../../testing/test-edge.ts";
import { anInvestor, anInvestorProfile } from "../samples/account.ts";
import { AT_TEXT } from "../samples/values.ts";

test("a directory of Investors is read page by page with its cursor", async () => {
  const edge = await testEdge({
    accounts: { listInvestors: async ({ afterId }) => ({ items: [anInvestorProfile()], hasMore: afterId === 0n }) },
  });
  const first = await edge.call({ url: "/api/v1/investor/directory?engine=ALL" });
  const { next_cursor: cursor } = first.body as { next_cursor: string };
  const second = await edge.call({ url: `/api/v1/investor/directory?engine=ALL&cursor=${cursor}` });

  const items = [{ engine: "PAMM", id: 8, mt5_login: "3000003", name: "Ada", created_at: AT_TEXT }];
  expect([first.body, second.body]).toEqual([
    { items, next_cursor: cursor, has_more: true },
    { items, next_cursor: null, has_more: false },
  ]);
  expect(edge.calls.map(({ request }) => request)).toEqual([
    { afterId: 0n, limit: 50 },
    { afterId: 8n, limit: 50 },
  ]);
});

test("all invalid fields of a new Investor are reported at once", async () => {
  const edge = await testEdge();
  const payload = { first_name: "", last_name: 5, username: "unknown", platform_group: "", leverage: "0" };
  const answer = await edge.call({ method: "POST", url: "/api/v1/investor/create", payload });

  expect(answer.status).toBe(422);
  expect(errorsOf(answer)).toEqual([
    ["name", "required"],
    ["first_name", "empty"],
    ["last_name", "wrong_type"],
    ["username", "malformed"],
    ["platform_group", "empty"],
    ["leverage", "out_of_range"],
  ]);
});

test("a group that the operator did not allow is refused with its field", async () => {
  const refusal = new Refusal({
    code: "group_not_allowed",
    status: "invalid",
    message: "No.",
    errors: [{ field: "platform_group", code: "group_not_allowed", message: "No." }],
  });
  const edge = await testEdge({ accounts: { createInvestor: () => Promise.reject(refusal) } });
  const payload = {
    first_name: "Ada",
    last_name: "Lovelace",
    name: "Ada",
    username: "ada@example.com",
    platform_group: "real\\other",
  };

  expect(await edge.call({ method: "POST", url: "/api/v1/investor/create", payload })).toMatchObject({
    status: 422,
    body: {
      code: "group_not_allowed",
      errors: [{ field: "platform_group", code: "group_not_allowed", message: "No." }],
    },
  });
});

test("a login that is registered already is a conflict", async () => {
  const refusal = new Refusal({ code: "login_already_registered", status: "conflict", message: "No." });
  const edge = await testEdge({ accounts: { addInvestor: () => Promise.reject(refusal) } });
  const payload = { mt5_login: "3000003", name: "Ada" };

  expect(await edge.call({ method: "POST", url: "/api/v1/investor/add", payload })).toMatchObject({
    status: 409,
    body: { code: "login_already_registered" },
  });
});

test("a name keeps every character that is shown, and the joiners of Persian and Indic words", async () => {
  const edge = await testEdge({ accounts: { addInvestor: async (request) => anInvestor({ name: request.name }) } });
  const name = "  Адa 名前 🎉 می\u200cخواهم ' \" \\ </script>";
  const answer = await edge.call({ method: "POST", url: "/api/v1/investor/add", payload: { mt5_login: "1", name } });

  expect(answer.body).toMatchObject({ name });
});

test("the query for the active Master of an Investor without one is answered with three nulls", async () => {
  const edge = await testEdge({
    subscriptions: { getActiveMaster: async () => ({ masterLogin: undefined, name: undefined, startedAt: undefined }) },
  });

  expect((await edge.call({ url: "/api/v1/info/investor/3000003/master" })).body).toEqual({
    master_login: null,
    name: null,
    started_at: null,
  });
});

test("an invalid login is refused on every route that has a login in its path", async () => {
  const edge = await testEdge();
  const urls = [
    "/api/v1/info/investor/abc",
    "/api/v1/info/investor/0/master",
    "/api/v1/info/balance/-1",
    "/api/v1/investor/1.5/performance-fee",
    "/api/v1/info/master/abc",
    "/api/v1/info/master/abc/investors",
    "/api/v1/perf-fee/master/abc/investor-payments",
  ];

  for (const url of urls) {
    const answer = await edge.call({ url });
    expect([url, answer.status, errorsOf(answer).map(([, code]) => code)]).toEqual([url, 422, ["malformed"]]);
  }
});
