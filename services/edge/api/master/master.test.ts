import { expect, test } from "vitest";
import { errorsOf, testEdge } from "../../testing/test-edge.ts";
import { aMaster } from "../samples/account.ts";
import { cents } from "../samples/values.ts";

const CREATE = {
  first_name: "Ada",
  last_name: "Lovelace",
  name: "Alpha",
  username: "ada@example.com",
  platform_group: "pamm\\master",
  min_deposit: "100",
};
const JSON_TYPE = { "content-type": "application/json" };

test("leverage may be a number or a text, or is that of the platform", async () => {
  const { call, calls } = await testEdge({
    accounts: { createMaster: async () => ({ master: aMaster(), mainPassword: "a", investorPassword: "b" }) },
  });
  const create = (leverage: string) => {
    const payload = JSON.stringify(CREATE).replace("}", leverage === "" ? "}" : `,"leverage":${leverage}}`);
    return call({ method: "POST", url: "/api/v1/master/create", payload, headers: JSON_TYPE });
  };
  for (const [written, leverage] of [
    ['"100"', 100],
    ["5000", 5_000],
    ["", 100],
  ] as const) {
    expect((await create(written)).status).toBe(200);
    expect(calls.at(-1)?.request).toMatchObject({ leverage, minDeposit: cents(100_00n) });
  }
  for (const written of ["5001", '"5001"', "100.5", "true", "null"]) {
    expect(errorsOf(await create(written)).map(([field]) => field)).toEqual(["leverage"]);
  }
});

test("a minimum deposit is read from its digits, not from a float", async () => {
  const { call, calls } = await testEdge({ accounts: { updateMaster: async () => aMaster() } });
  const patch = (minimum: string) =>
    call({ method: "PATCH", url: "/api/v1/master/7", payload: `{"min_deposit":${minimum}}`, headers: JSON_TYPE });

  expect((await patch("0.30")).status).toBe(200);
  expect((await patch('"999999999.99"')).status).toBe(200);
  expect(errorsOf(await patch("0.300000000000000001"))).toEqual([["min_deposit", "amount_precision"]]);
  expect(calls.map(({ request }) => request)).toMatchObject([
    { id: 7n, minDeposit: cents(30n), name: undefined },
    { minDeposit: cents(999_999_999_99n) },
  ]);
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
