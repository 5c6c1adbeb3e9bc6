import { expect, test } from "vitest";
import { Refusal } from "#kernel/refusal.ts";
import { errorsOf, testEdge } from "../../testing/test-edge.ts";
import { aDeposit, aWithdrawal } from "../samples/funding.ts";
import { cents } from "../samples/values.ts";

const DEPOSIT = "/api/v1/investor/deposit";
const WITHDRAW = "/api/v1/investor/withdraw";

test("a deposit is answered field by field", async () => {
  const edge = await testEdge({
    funding: { deposit: async () => aDeposit({ firstDepositChecked: false, minDepositRequired: cents(0n) }) },
  });
  const answer = await edge.call({ method: "POST", url: `${DEPOSIT}?login=3000003&amount=0.1` });

  expect(answer.body).toEqual({
    status: "success",
    action: "deposit",
    login: "3000003",
    amount: 0.1,
    currency: "USD",
    deal_id: 1_234_567,
    message: "Deposited 0.10 USD.",
    first_deposit_checked: false,
    min_deposit_required: "0.00",
  });
  expect(edge.calls[0]?.request).toEqual({
    login: "3000003",
    amount: cents(10n),
    comment: "API Deposit",
    client: { keyId: "KeyOfTests01", choseComment: false, rejectsDuplicates: false },
    idempotencyKey: undefined,
    labels: undefined,
  });
  expect(answer.headers).not.toHaveProperty("x-possible-duplicate-of");
});

test("a comment is passed on unchanged", async () => {
  const edge = await testEdge({ funding: { deposit: async () => aDeposit() } });
  const comment = "CRM 1&2=3+4 € 🎉";
  await edge.call({ method: "POST", url: `${DEPOSIT}?login=1&amount=1&comment=${encodeURIComponent(comment)}` });

  expect(edge.calls[0]?.request).toMatchObject({ comment, client: { choseComment: true } });
});

test.each([
  [DEPOSIT, { funding: { deposit: async () => aDeposit() } }, "API Deposit"],
  [WITHDRAW, { funding: { withdraw: async () => aWithdrawal() } }, "API Withdraw"],
])(
  "the default comment of %s does not identify a request, also when the caller sends it",
  async (url, services, comment) => {
    const edge = await testEdge(services);
    for (const parameter of ["", `&comment=${encodeURIComponent(comment)}`]) {
      await edge.call({ method: "POST", url: `${url}?login=1&amount=1${parameter}` });
      expect(edge.calls.at(-1)?.request).toMatchObject({ comment, client: { choseComment: false } });
    }
  },
);

test.each([DEPOSIT, WITHDRAW])(
  "%s executes a possible duplicate, and its header names the earlier deal",
  async (url) => {
    const edge = await testEdge({
      funding: {
        deposit: async () => aDeposit({ possibleDuplicateOf: 77n }),
        withdraw: async () => aWithdrawal({ possibleDuplicateOf: 77n }),
      },
    });
    const answer = await edge.call({ method: "POST", url: `${url}?login=1&amount=1&comment=CRM-1` });

    expect([answer.status, answer.headers["x-possible-duplicate-of"]]).toEqual([200, "77"]);
  },
);

test.each(["operation_in_progress", "possible_duplicate"] as const)(
  "the refusal %s names the duplicate",
  async (code) => {
    const duplicate = { operationId: "0198c0de-0000-7000-8000-000000000009", details: { deal_id: "77" } };
    const refusal = new Refusal({ code, status: "conflict", message: "no", outcome: "not_executed", ...duplicate });
    const edge = await testEdge({ funding: { deposit: () => Promise.reject(refusal) } });
    const { status, body } = await edge.call({ method: "POST", url: `${DEPOSIT}?login=1&amount=1&comment=CRM-1` });

    expect([status, body]).toMatchObject([
      409,
      {
        code,
        outcome: "not_executed",
        operation_id: duplicate.operationId,
        ...(code === "possible_duplicate" ? { deal_id: 77 } : {}),
      },
    ]);
  },
);

test.each([DEPOSIT, WITHDRAW])("all invalid fields of %s are reported at once", async (url) => {
  const edge = await testEdge();
  const reference = "PD0F7K3M9Q2X1X";
  const answer = await edge.call({
    method: "POST",
    url: `${url}?login=abc&amount=1e3&currency=EUR&comment=${reference}`,
  });

  expect([answer.status, answer.body]).toMatchObject([422, { code: "validation_failed", outcome: "not_executed" }]);
  expect(errorsOf(answer)).toEqual([
    ["login", "malformed"],
    ["amount", "malformed"],
    ["currency", "currency_not_supported"],
    ["comment", "reserved_reference"],
  ]);
});

test.each([
  ["amount=1.001&login=1", "amount_precision"],
  ["amount=1&login=1&currency=EUR", "currency_not_supported"],
  ["amount=0&login=1", "validation_failed"],
  ["amount=1000000000.01&login=1", "validation_failed"],
  ["amount=1&login=1&amount=2", "validation_failed"],
  ["login=1", "validation_failed"],
  ["amount=1", "validation_failed"],
])("a deposit with %s is refused as %s", async (query, code) => {
  const edge = await testEdge();

  expect(await edge.call({ method: "POST", url: `${DEPOSIT}?${query}` })).toMatchObject({
    status: 422,
    body: { code },
  });
});

test("parameters are read from the query only", async () => {
  const edge = await testEdge();
  const payload = { login: "1", amount: "1" };

  expect(errorsOf(await edge.call({ method: "POST", url: DEPOSIT, payload }))).toEqual([
    ["login", "required"],
    ["amount", "required"],
  ]);
});

test("the answer of a reduced withdrawal contains the paid amount", async () => {
  const edge = await testEdge({
    funding: {
      withdraw: async () =>
        aWithdrawal({ effectiveWithdraw: cents(12_34n), pendingFee: cents(5_00n), availableAfterFee: cents(12_34n) }),
    },
  });
  const answer = await edge.call({ method: "POST", url: `${WITHDRAW}?login=3000003&amount=50.00` });

  expect(answer.body).toEqual({
    status: "success",
    action: "withdraw",
    login: "3000003",
    requested_amount: 50,
    effective_withdraw: 12.34,
    currency: "USD",
    message:
      "Withdrew 12.34 USD of 50.00 USD: the full available amount (not available: performance fee 5.00 USD, funds under review 233.21 USD).",
    check_open_positions: true,
    perf_fee_pending_at_request: "5.00",
    balance_before: "250.55",
    available_after_perf_fee: "12.34",
    mt5_deal_id: 1_234_568,
  });
});

test.each([
  [50_00n, "success", "Withdrew 50.00 USD. Held back: funds under review 100.55 USD."],
  [0n, "no_funds", "Balance is 250.55 USD; nothing was withdrawn (not available: funds under review 100.55 USD)."],
] as const)("what is held back of a withdrawal of %d cents is in message and header", async (paid, status, message) => {
  const edge = await testEdge({
    funding: {
      withdraw: async () => aWithdrawal({ effectiveWithdraw: cents(paid), availableAfterFee: cents(150_00n) }),
    },
  });
  const answer = await edge.call({ method: "POST", url: `${WITHDRAW}?login=1&amount=50` });

  expect(answer.body).toMatchObject({ status, message, available_after_perf_fee: "150.00" });
  expect(answer.headers["x-held-back"]).toBe("100.55;currency=USD;reason=funds_under_review");
});

test("a withdrawal of which nothing is under review has no such header, also when the fee exceeds the balance", async () => {
  const edge = await testEdge({
    funding: {
      withdraw: async () => aWithdrawal({ pendingFee: cents(300_00n), availableAfterFee: cents(0n) }),
    },
  });
  const answer = await edge.call({ method: "POST", url: `${WITHDRAW}?login=1&amount=50` });

  expect(answer.headers).not.toHaveProperty("x-held-back");
});

test("a withdrawal without available funds is answered with no_funds and without a deal", async () => {
  const edge = await testEdge({
    funding: {
      withdraw: async () =>
        aWithdrawal({
          effectiveWithdraw: cents(0n),
          balanceBefore: cents(0n),
          availableAfterFee: cents(0n),
          dealId: undefined,
        }),
    },
  });

  expect(await edge.call({ method: "POST", url: `${WITHDRAW}?login=1&amount=50` })).toMatchObject({
    status: 200,
    body: {
      status: "no_funds",
      effective_withdraw: 0,
      mt5_deal_id: null,
      message: "Balance is 0.00 USD; nothing was withdrawn.",
    },
  });
});

test.each([
  ["a balance", { balance: cents(250_55n), error: "", isUnknown: false }, { balance: 250.55, ok: true, error: null }],
  [
    "a negative balance",
    { balance: cents(-1n), error: "", isUnknown: false },
    { balance: -0.01, ok: true, error: null },
  ],
  [
    "an unknown login",
    { balance: undefined, error: "unknown login", isUnknown: true },
    { balance: null, ok: false, error: "unknown login" },
  ],
])("%s is answered with 200", async (_what, answer, expected) => {
  const edge = await testEdge({ funding: { getBalance: async () => ({ login: "1", ...answer }) } });

  expect(await edge.call({ url: "/api/v1/info/balance/1" })).toMatchObject({
    status: 200,
    body: { mt5_login: "1", ...expected },
  });
});

test.each([
  ["service_unavailable", "unavailable"],
  ["outcome_unknown", "unknown_outcome"],
] as const)("a balance that could not be read (%s) is answered with 200 too", async (code, status) => {
  const refusal = new Refusal({ code, status, message: "funding cannot be reached" });
  const edge = await testEdge({ funding: { getBalance: () => Promise.reject(refusal) } });

  expect(await edge.call({ url: "/api/v1/info/balance/1" })).toMatchObject({
    status: 200,
    body: { mt5_login: "1", balance: null, ok: false, error: "The balance cannot be read now." },
  });
});

test("balances of many logins are one call, in the order of the request, each with its own outcome", async () => {
  const unread = { balance: undefined, error: "The trading platform does not show account 3000001.", isUnknown: false };
  const edge = await testEdge({
    funding: {
      getBalances: async ({ logins }) => ({
        balances: logins.map((login) =>
          login === "3000001" ? { login, ...unread } : { login, balance: cents(250_55n), error: "", isUnknown: false },
        ),
      }),
    },
  });

  expect(await edge.call({ url: "/api/v1/info/balances?logins=3000003,3000001" })).toMatchObject({
    status: 200,
    body: {
      items: [
        { mt5_login: "3000003", balance: 250.55, ok: true, error: null },
        { mt5_login: "3000001", balance: null, ok: false, error: unread.error },
      ],
    },
  });
  expect(edge.calls.map(({ request }) => request)).toEqual([{ logins: ["3000003", "3000001"] }]);
});

test("balances that cannot be read are answered with 200, each with the reason", async () => {
  const refusal = new Refusal({ code: "service_unavailable", status: "unavailable", message: "funding is away" });
  const edge = await testEdge({ funding: { getBalances: () => Promise.reject(refusal) } });
  const unread = { balance: null, ok: false, error: "The balance cannot be read now." };

  expect(await edge.call({ url: "/api/v1/info/balances?logins=1,2" })).toMatchObject({
    status: 200,
    body: {
      items: [
        { mt5_login: "1", ...unread },
        { mt5_login: "2", ...unread },
      ],
    },
  });
});

test.each([
  ["", "malformed"],
  ["1,", "malformed"],
  ["1,abc,0", "malformed"],
  ["1,2,1", "duplicate"],
  [Array.from({ length: 101 }, (_, index) => index + 1).join(), "out_of_range"],
])("balances of %s are refused", async (logins, code) => {
  const edge = await testEdge();

  expect(errorsOf(await edge.call({ url: `/api/v1/info/balances?logins=${logins}` }))).toEqual([["logins", code]]);
});
