import { expect, test } from "vitest";
import { serviceUnavailable } from "#kernel/contract/refusals.ts";
import { refuse } from "../../problems/refusals.ts";
import { testEdge } from "../../testing/test-edge.ts";
import { aDeposit, aWithdrawal } from "../samples/funding.ts";
import { cents } from "../samples/values.ts";

const WITHDRAW = { method: "POST", url: "/api/v1/investor/withdraw?login=3000003&amount=50" } as const;

test.each([
  ["deposit", "API Deposit"],
  ["withdraw", "API Withdraw"],
])(
  "the default comment of a %s does not identify a request, also when the caller sends it; a possible duplicate of a request is executed, and its header names the earlier deal",
  async (command, comment) => {
    const { call, calls } = await testEdge({
      funding: {
        deposit: async () => aDeposit({ possibleDuplicateOf: 77n }),
        withdraw: async () => aWithdrawal({ possibleDuplicateOf: 77n }),
      },
    });
    for (const sent of ["", comment, "CRM 1&2=3+4 € 🎉"]) {
      const parameter = sent === "" ? "" : `&comment=${encodeURIComponent(sent)}`;
      const answer = await call({ method: "POST", url: `/api/v1/investor/${command}?login=1&amount=1${parameter}` });
      expect([answer.status, answer.headers["x-possible-duplicate-of"]]).toEqual([200, "77"]);
      const written = sent === "" ? comment : sent;
      expect(calls.at(-1)?.request).toMatchObject({ comment: written, client: { choseComment: written !== comment } });
    }
  },
);

test.each([
  [50_00n, 0n, "success", "Withdrew 50.00 USD. Held back: funds under review 100.55 USD."],
  [
    12_34n,
    5_00n,
    "success",
    "Withdrew 12.34 USD of 50.00 USD: the full available amount (not available: performance fee 5.00 USD, funds under review 95.55 USD).",
  ],
  [0n, 0n, "no_funds", "Balance is 250.55 USD; nothing was withdrawn (not available: funds under review 100.55 USD)."],
] as const)(
  "what is held back of a withdrawal of %d cents, beside a fee of %d, is in message and header",
  async (paid, fee, status, message) => {
    const done = { effectiveWithdraw: cents(paid), pendingFee: cents(fee), availableAfterFee: cents(150_00n) };
    const { call } = await testEdge({ funding: { withdraw: async () => aWithdrawal(done) } });
    const answer = await call(WITHDRAW);

    expect(answer.body).toMatchObject({ status, message, available_after_perf_fee: "150.00" });
    expect(answer.headers["x-held-back"]).toMatch(/^(100|95)\.55;currency=USD;reason=funds_under_review$/);
  },
);

test("a withdrawal of which nothing is under review has no such header, also when the fee exceeds the balance", async () => {
  const done = { pendingFee: cents(300_00n), availableAfterFee: cents(0n) };
  const { call } = await testEdge({ funding: { withdraw: async () => aWithdrawal(done) } });

  expect((await call(WITHDRAW)).headers).not.toHaveProperty("x-held-back");
});

test("balances that cannot be read are answered with 200, each with the reason", async () => {
  const unread = { balance: null, ok: false, error: "The balance cannot be read now." };
  for (const refusal of [serviceUnavailable("funding"), refuse("outcome_unknown", "It has not answered.")]) {
    const read = () => Promise.reject(refusal);
    const { call } = await testEdge({ funding: { getBalance: read, getBalances: read } });

    const one = await call({ url: "/api/v1/info/balance/1" });
    expect(one).toMatchObject({ status: 200, body: { mt5_login: "1", ...unread } });
    const items = ["1", "2"].map((login) => ({ mt5_login: login, ...unread }));
    const many = await call({ url: "/api/v1/info/balances?logins=1,2" });
    expect(many).toMatchObject({ status: 200, body: { items } });
  }
});
