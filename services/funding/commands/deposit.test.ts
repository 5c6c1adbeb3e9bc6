import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { settleCashflows } from "../jobs/settle-cashflows.ts";
import { platformFake } from "#test/support/platform-fake/platform-fake.ts";
import { aCall, INVESTOR, repeatsLost, usd, world, type World } from "../testing/funding.ts";
import { deposit } from "./deposit.ts";

const HUNDRED = {
  login: INVESTOR,
  amount: usd(100_00n),
  comment: "CRM-1",
  client: undefined,
  idempotencyKey: undefined,
};

/** Time for one call of the platform service, and not for another one. */
const ONE_CALL_MS = 1_500;

test("a repeated deposit is credited and recorded once", async () => {
  const deps = await world();

  const first = await deposit(deps, HUNDRED, aCall("op-1"));
  const second = await deposit(deps, HUNDRED, aCall("op-1"));

  expect(first).toEqual({
    operationId: "op-1",
    dealId: 900_002n,
    firstDepositChecked: false,
    minDepositRequired: usd(0n),
  });
  expect(second).toEqual(first);
  expect(deps.platform.deals).toEqual([
    { key: "funding:deposit:op-1", login: INVESTOR, minor: 100_00n, comment: "CRM-1", lockOwner: "" },
  ]);
});

test("an assigned Investor may deposit less than the Master's minimum, and the first answer says that it was looked at", async () => {
  const deps = await world({ masterMinimum: 500_00n });

  const first = await deposit(deps, { ...HUNDRED, amount: usd(1n) }, aCall("op-1"));
  const second = await deposit(deps, HUNDRED, aCall("op-2"));

  expect(first).toMatchObject({ firstDepositChecked: true, minDepositRequired: usd(500_00n) });
  expect(second).toMatchObject({ firstDepositChecked: false, minDepositRequired: usd(500_00n) });
});

test("a deposit whose answer was lost is unknown to the caller, then settled once", async () => {
  const deps = await world();
  deps.platform.faults.transfer.push("lost answer");

  await expect(deposit(deps, HUNDRED, aCall("op-1", ONE_CALL_MS))).rejects.toMatchObject({
    code: "outcome_unknown",
    outcome: "unknown",
    operationId: "op-1",
  });
  expect(await states(deps)).toEqual([{ state: "RECORDED", doubt: "UNKNOWN", deal_id: null }]);

  await settleLater(deps);
  await settleLater(deps);

  expect(await states(deps)).toEqual([{ state: "POSTED", doubt: null, deal_id: 900_002n }]);
  expect(deps.platform.deals).toHaveLength(1);
});

test("after lost answers the transfer is requested again while the caller waits, and paid once", async () => {
  const deps = await world();
  deps.platform.faults.transfer.push("lost answer", "unreachable", "lost answer");

  await expect(deposit(deps, HUNDRED, aCall("op-1"))).resolves.toMatchObject({ dealId: 900_002n });

  expect(deps.platform.deals).toHaveLength(1);
  expect(await states(deps)).toEqual([{ state: "POSTED", doubt: null, deal_id: 900_002n }]);
});

test("a deposit that never reached the platform service is not executed, then or later", async () => {
  const deps = await world();
  deps.platform.faults.transfer.push("unreachable");

  const refused = expect.objectContaining({ code: "platform_unavailable", outcome: "not_executed" });
  await expect(deposit(deps, HUNDRED, aCall("op-1"))).rejects.toEqual(refused);
  await settleLater(deps);

  await expect(deposit(deps, HUNDRED, aCall("op-1"))).rejects.toEqual(refused);
  expect(deps.platform.deals).toEqual([]);
});

test("a repetition that cannot reach the platform service leaves a transfer that was sent before open", async () => {
  const deps = await world();
  deps.platform.faults.transfer.push("lost answer", "unreachable");
  await deposit(deps, HUNDRED, aCall("op-1", ONE_CALL_MS)).catch(() => {});

  await expect(deposit(deps, HUNDRED, aCall("op-1"))).rejects.toMatchObject({ outcome: "unknown" });
  await settleLater(deps);

  expect(await states(deps)).toEqual([{ state: "POSTED", doubt: null, deal_id: 900_002n }]);
});

test("a deposit that was not sent before its deadline ends as not executed", async () => {
  const deps = await world();
  deps.platform.faults.transfer.push("unknown");
  await deposit(deps, HUNDRED, aCall("op-1")).catch(() => {});
  await deps.pool.query("update cashflow set deadline = now() - interval '1 second'");

  await settleLater(deps);

  expect(await states(deps)).toEqual([{ state: "REFUSED", doubt: null, deal_id: null }]);
  await expect(deposit(deps, HUNDRED, aCall("op-1"))).rejects.toMatchObject({
    code: "platform_unavailable",
    outcome: "not_executed",
  });
});

test.each([
  ["insufficient_funds", "insufficient_funds"],
  ["account_busy", "account_busy"],
  ["expired", "platform_unavailable"],
] as const)("a transfer refused as %s is a deposit refused as %s", async (fault, code) => {
  const deps = await world();
  deps.platform.faults.transfer.push(fault);

  await expect(deposit(deps, HUNDRED, aCall("op-1"))).rejects.toMatchObject({ code, outcome: "not_executed" });
  expect(await states(deps)).toEqual([{ state: "REFUSED", doubt: null, deal_id: null }]);
});

test("a deposit with several invalid fields is refused with all of them", async () => {
  const deps = await world();

  await expect(
    deposit(
      deps,
      { login: INVESTOR, amount: usd(0n), comment: "x".repeat(256), client: undefined, idempotencyKey: undefined },
      aCall(""),
    ),
  ).rejects.toMatchObject({
    code: "validation_failed",
    errors: [{ field: "command_id" }, { field: "amount" }, { field: "comment" }],
  });
});

test("a deposit for an unknown Investor is refused and not recorded", async () => {
  const deps = await world();

  await expect(deposit(deps, { ...HUNDRED, login: "1" }, aCall("op-1"))).rejects.toMatchObject({
    code: "investor_not_found",
  });
  expect(await states(deps)).toEqual([]);
});

test("a deposit whose preparing query gets no answer is answered as not executed", async () => {
  const deps = await world();
  const silent = { ...deps, subscriptions: { ...deps.subscriptions, findOpenSubscription: lost } };

  await expect(deposit(silent, HUNDRED, aCall("op-1"))).rejects.toMatchObject({
    code: "service_unavailable",
    outcome: "not_executed",
  });
});

test("twenty concurrent requests with one command id credit once", async () => {
  const deps = await world({ platform: platformFake() });

  const answers = await Promise.all(Array.from({ length: 20 }, () => deposit(deps, HUNDRED, aCall("op-1"))));

  expect(new Set(answers.map(({ dealId }) => dealId))).toEqual(new Set([900_002n]));
  expect(deps.platform.deals).toHaveLength(1);
});

async function lost(): Promise<never> {
  const { outcomeUnknown } = await import("#kernel/contract/refusals.ts");
  throw outcomeUnknown("subscription");
}

async function settleLater(deps: World): Promise<void> {
  await deps.pool.query("update cashflow set next_try_at = now() - interval '1 second'");
  await settleCashflows(deps);
}

async function states({ pool }: World) {
  return await many(pool, sql`select state, doubt, deal_id from cashflow order by id`);
}

test("what platform refuses is refused in its words, with its details", async () => {
  const busy = {
    code: "account_busy",
    message: "The history cannot be read. Nothing was executed.",
    outcome: "not_executed",
    retryAfterMs: 250,
  } as const;
  const deps = await world();
  const depositRefused = (id: string, refusal: Refusal) => {
    const transfer: World["platform"]["transfer"] = () => Promise.reject(refusal);
    return deposit({ ...deps, platform: { ...deps.platform, transfer } }, HUNDRED, aCall(id));
  };

  await expect(depositRefused("op-1", new Refusal({ ...busy, status: "conflict" }))).rejects.toMatchObject({
    ...busy,
    operationId: undefined,
  });
  await expect(depositRefused("op-2", repeatsLost(77n))).rejects.toMatchObject({
    code: "possible_duplicate",
    outcome: "not_executed",
    details: { deal_id: "77" },
  });
  const refused = { state: "REFUSED", deal_id: null };
  expect(await states(deps)).toMatchObject([refused, refused]);
});
