import { expect, test } from "vitest";
import { Refusal } from "#kernel/refusal.ts";
import { type Answer, errorsOf, testEdge } from "../../testing/test-edge.ts";
import { aMaster, aMasterProfile } from "../samples/account.ts";
import { AT_TEXT, cents, LARGE } from "../samples/values.ts";

const CREATE = {
  first_name: "Ada",
  last_name: "Lovelace",
  name: "Alpha",
  username: "ada@example.com",
  platform_group: "pamm\\master",
  min_deposit: "100",
};

const nextCursorOf = ({ body }: Answer): string => (body as { next_cursor: string }).next_cursor;

test("a directory is read page by page with its cursor, and the last page has none", async () => {
  const edge = await testEdge({
    accounts: {
      listMasters: async ({ afterId }) =>
        afterId === 0n
          ? { items: [1n, LARGE].map((id) => aMasterProfile({ master: aMaster({ id }) })), hasMore: true }
          : { items: [], hasMore: false },
    },
  });
  const first = await edge.call({ url: "/api/v1/master/directory?engine=PAMM&limit=2" });
  const second = await edge.call({ url: `/api/v1/master/directory?engine=PAMM&limit=2&cursor=${nextCursorOf(first)}` });

  expect(first.body).toMatchObject({ has_more: true });
  expect(second.body).toEqual({ items: [], next_cursor: null, has_more: false });
  expect(edge.calls.map(({ request }) => request)).toEqual([
    { afterId: 0n, limit: 2 },
    { afterId: LARGE, limit: 2 },
  ]);
});

test("a cursor is valid for its own route and filter only", async () => {
  const page = async () => ({ items: [aMasterProfile()], hasMore: true });
  const edge = await testEdge({ accounts: { listMasters: page } });
  const cursor = nextCursorOf(await edge.call({ url: "/api/v1/master/directory?engine=PAMM" }));

  for (const url of ["/api/v1/master/directory?engine=ALL", "/api/v1/investor/directory?engine=PAMM"]) {
    expect(await edge.call({ url: `${url}&cursor=${cursor}` })).toMatchObject({
      status: 422,
      body: { code: "invalid_cursor", errors: [{ field: "cursor", code: "invalid_cursor" }] },
    });
  }
});

test("all invalid fields of a directory query are reported at once", async () => {
  const edge = await testEdge();
  const answer = await edge.call({ url: "/api/v1/master/directory?engine=MAM&limit=101&cursor=mine&unknown=1" });

  expect([answer.status, answer.body]).toMatchObject([422, { code: "validation_failed" }]);
  expect(errorsOf(answer)).toEqual([
    ["engine", "unknown_value"],
    ["limit", "out_of_range"],
    ["cursor", "invalid_cursor"],
  ]);
});

test("the engine is required and the limit is never clamped", async () => {
  const edge = await testEdge();

  expect(errorsOf(await edge.call({ url: "/api/v1/master/directory?limit=0" }))).toEqual([
    ["engine", "required"],
    ["limit", "out_of_range"],
  ]);
});

test("a Master without strategy has empty texts, and its minimum is a number", async () => {
  const edge = await testEdge({
    accounts: {
      addMaster: async () =>
        aMaster({ strategyName: undefined, strategy: undefined, minDeposit: cents(0n), id: LARGE }),
    },
  });
  const payload = { mt5_login: "3000001", payment_account_login: "3000002", min_deposit: 0, unknown: { a: 1 } };
  const answer = await edge.call({ method: "POST", url: "/api/v1/master/add", payload });

  expect(answer.body).toEqual({
    engine: "PAMM",
    id: Number(LARGE),
    mt5_login: "3000001",
    name: "Alpha Strategy",
    strategy_name: "",
    strategy: "",
    investors_count: 2,
    payment_account_login: "3000002",
    min_deposit: 0,
    created_at: AT_TEXT,
  });
  expect(answer.text).toContain(`"id":${LARGE},`);
  expect(edge.calls[0]?.request).toEqual({
    login: "3000001",
    paymentAccountLogin: "3000002",
    name: undefined,
    strategyName: undefined,
    strategy: undefined,
    minDeposit: cents(0n),
  });
});

test("all invalid fields of a registration are reported at once", async () => {
  const edge = await testEdge();
  const payload = {
    mt5_login: 3000001,
    name: " ",
    strategy: "a\u0000b",
    payment_account_login: "0",
    min_deposit: "1.005",
  };
  const answer = await edge.call({ method: "POST", url: "/api/v1/master/add", payload });

  expect(errorsOf(answer)).toEqual([
    ["mt5_login", "wrong_type"],
    ["name", "empty"],
    ["strategy", "control_character"],
    ["payment_account_login", "malformed"],
    ["min_deposit", "amount_precision"],
  ]);
});

test.each([
  ["login_already_registered", "conflict", 409],
  ["login_in_use", "conflict", 409],
  ["payment_account_in_use", "conflict", 409],
  ["payment_account_has_open_positions", "conflict", 409],
  ["payment_account_equals_master", "invalid", 422],
  ["platform_account_not_found", "invalid", 422],
] as const)("a registration that is refused as %s is answered with this code", async (code, status, expected) => {
  const edge = await testEdge({
    accounts: { addMaster: () => Promise.reject(new Refusal({ code, status, message: "No." })) },
  });
  const payload = { mt5_login: "1", payment_account_login: "2", min_deposit: "1" };

  expect(await edge.call({ method: "POST", url: "/api/v1/master/add", payload })).toMatchObject({
    status: expected,
    body: { code, outcome: "not_executed", retryable: false, detail: "No." },
  });
});

test.each([
  ["a string", '"100"', 100],
  ["an integer", "250", 250],
  ["the highest of the platform", "5000", 5_000],
  ["nothing", undefined, 100],
])("leverage may be %s", async (_what, written, leverage) => {
  const edge = await testEdge({
    accounts: { createMaster: async () => ({ master: aMaster(), mainPassword: "a", investorPassword: "b" }) },
  });
  const text = JSON.stringify(CREATE).replace("}", written === undefined ? "}" : `,"leverage":${written}}`);
  const headers = { "content-type": "application/json" };
  const answer = await edge.call({ method: "POST", url: "/api/v1/master/create", payload: text, headers });

  expect([answer.status, edge.calls[0]?.request]).toMatchObject([200, { leverage, minDeposit: cents(100_00n) }]);
});

test.each(["5001", "0", '"5001"', '"1:100"', "100.5", "true", "null"])("leverage may not be %s", async (written) => {
  const edge = await testEdge();
  const text = JSON.stringify(CREATE).replace("}", `,"leverage":${written}}`);
  const headers = { "content-type": "application/json" };
  const answer = await edge.call({ method: "POST", url: "/api/v1/master/create", payload: text, headers });

  expect([answer.status, errorsOf(answer).map(([field]) => field)]).toEqual([422, ["leverage"]]);
});

test("a minimum deposit is read from its digits, not from a float", async () => {
  const edge = await testEdge({ accounts: { updateMaster: async () => aMaster() } });
  const headers = { "content-type": "application/json" };
  const patch = (minimum: string) =>
    edge.call({ method: "PATCH", url: "/api/v1/master/7", payload: `{"min_deposit":${minimum}}`, headers });

  expect((await patch("0.30")).status).toBe(200);
  expect((await patch("999999999.99")).status).toBe(200);
  expect(errorsOf(await patch("0.300000000000000001"))).toEqual([["min_deposit", "amount_precision"]]);
  expect(errorsOf(await patch("-1"))).toEqual([["min_deposit", "out_of_range"]]);
  expect(edge.calls.map(({ request }) => request)).toMatchObject([
    { id: 7n, minDeposit: cents(30n), name: undefined },
    { minDeposit: cents(999_999_999_99n) },
  ]);
});

test.each(["250.5", '"250.50"'])(
  "the minimum deposit may be written %s in every route that sets it",
  async (written) => {
    const made = { master: aMaster(), mainPassword: "a", investorPassword: "b" };
    const edge = await testEdge({
      accounts: {
        createMaster: async () => made,
        addMaster: async () => aMaster(),
        updateMaster: async () => aMaster(),
      },
    });
    const headers = { "content-type": "application/json" };
    const accounts = { mt5_login: "3000001", payment_account_login: "3000002" };
    for (const [method, path, body] of [
      ["POST", "create", CREATE],
      ["POST", "add", accounts],
      ["PATCH", "7", {}],
    ] as const) {
      const rest = JSON.stringify({ ...body, min_deposit: undefined }).slice(1);
      const payload = `{"min_deposit":${written}${rest === "}" ? rest : `,${rest}`}`;
      expect((await edge.call({ method, url: `/api/v1/master/${path}`, payload, headers })).status).toBe(200);
    }

    expect(edge.calls.map(({ request }) => request)).toMatchObject(Array(3).fill({ minDeposit: cents(250_50n) }));
  },
);

test("texts of the strategy that were never given are empty in every answer", async () => {
  const master = aMaster({ strategyName: undefined, strategy: undefined });
  const revealed = { master, mainPassword: "a", investorPassword: "b" };
  const edge = await testEdge({
    accounts: {
      getMaster: async () => master,
      updateMaster: async () => master,
      createMaster: async () => revealed,
      revealMaster: async () => revealed,
      listMasters: async () => ({ items: [aMasterProfile({ master })], hasMore: false }),
    },
  });
  const answers = [
    await edge.call({ url: "/api/v1/master/7" }),
    await edge.call({ url: "/api/v1/info/master/3000001" }),
    await edge.call({ method: "POST", url: "/api/v1/master/create", payload: CREATE }),
    await edge.call({ method: "PATCH", url: "/api/v1/master/7", payload: { name: "Alpha" } }),
  ];
  const { body } = await edge.call({ url: "/api/v1/master/directory?engine=PAMM" });

  for (const item of [...answers.map((answer) => answer.body), (body as { items: unknown[] }).items[0]]) {
    expect(item).toMatchObject({ strategy_name: "", strategy: "" });
  }
});

test("an update without any known field is refused", async () => {
  const edge = await testEdge();
  const answer = await edge.call({ method: "PATCH", url: "/api/v1/master/x", payload: { leverage: "1" } });

  expect(errorsOf(answer)).toEqual([
    ["master_id", "malformed"],
    ["body", "required"],
  ]);
});

test("an unknown Master is not found", async () => {
  const notFound = () =>
    Promise.reject(new Refusal({ code: "master_not_found", status: "not_found", message: "No Master." }));
  const edge = await testEdge({
    accounts: { getMaster: notFound, revealMaster: notFound },
    subscriptions: { listActiveInvestors: notFound },
  });

  for (const url of ["/api/v1/master/999", "/api/v1/info/master/999", "/api/v1/info/master/999/investors"]) {
    expect(await edge.call({ url })).toMatchObject({ status: 404, body: { code: "master_not_found" } });
  }
});

test("passwords of a registered Master are null", async () => {
  const edge = await testEdge({
    accounts: {
      revealMaster: async () => ({ master: aMaster(), mainPassword: undefined, investorPassword: undefined }),
    },
  });

  expect((await edge.call({ url: "/api/v1/info/master/3000001" })).body).toMatchObject({
    mt5_password: null,
    mt5_investor_password: null,
  });
});

test("a key that may change Masters and no fees does not change where fees are paid", async () => {
  const accounts = { updateMaster: async () => aMaster({ paymentAccountLogin: "3000006" }) };
  const patch = { method: "PATCH", url: "/api/v1/master/7", payload: { payment_account_login: "3000006" } } as const;
  const without = await testEdge({ accounts, scopes: ["masters:write"] });
  expect(await without.call(patch)).toMatchObject({
    status: 403,
    body: { code: "insufficient_scope", required_scope: "fees:write", outcome: "not_executed" },
  });
  expect(without.calls).toEqual([]);
  expect((await without.call({ ...patch, payload: { accepting_investors: true } })).status).toBe(200);
  const both = await testEdge({ accounts, scopes: ["masters:write", "fees:write"] });
  expect(await both.call(patch)).toMatchObject({ status: 200, body: { payment_account_login: "3000006" } });
});
