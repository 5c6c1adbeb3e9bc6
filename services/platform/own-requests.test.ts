import { expect, test } from "vitest";
import type { CallContext, Implementation } from "#kernel/contract/contract.ts";
import { callContext } from "#kernel/contract/context.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import type { PlatformServiceService, TransferRequest } from "#proto/pamm/platform/v1/platform.ts";
import { refuseForeign } from "./own-requests.ts";
import { aTransfer } from "./testing/requests.ts";
import { silentLog } from "./testing/world.ts";

const { DEPOSIT, WITHDRAWAL, FEE_DEBIT, FEE_CREDIT, MIRROR, EXIT, RESULT, REVERSAL } = MovementKind;
const KEYS = {
  funding: "funding:deposit:0198c0de-0000-7000-8000-000000000001",
  fee: "fee:1001:2001:W:2026-11-21T00:00:00.000Z",
  subscription: "subscription:mirror:17",
} as const;
type Caller = keyof typeof KEYS;
const CALLERS = Object.keys(KEYS) as Caller[];
const OWN: Readonly<Record<Caller, readonly MovementKind[]>> = {
  funding: [DEPOSIT],
  fee: [FEE_DEBIT, FEE_CREDIT],
  subscription: [WITHDRAWAL, MIRROR, EXIT, RESULT],
};
const ALL_KINDS = [...Object.values(OWN).flat(), REVERSAL];

/** Answers whether a call has reached the service behind. */
const reached: string[] = [];
const behind = new Proxy({}, { get: (_, method: string) => async () => void reached.push(method) });
const service = refuseForeign(behind as Implementation<PlatformServiceService>, { log: silentLog });

const as = (caller: string): CallContext => callContext({ caller, withinMs: 1_000 });
const order = (key: string, kind: MovementKind, own = {}) => aTransfer(key, [{ login: "1001", kind, minor: 1n }], own);

async function outcomeOf(call: () => Promise<unknown>): Promise<unknown> {
  reached.length = 0;
  try {
    await call();
    return reached;
  } catch (error) {
    expect(reached).toEqual([]);
    const { code, message, outcome, errors } = error as { [name: string]: unknown };
    expect([code, message, outcome]).toEqual([
      "not_permitted",
      "The caller may only request transfers and account locks of its own.",
      "not_executed",
    ]);
    return (errors as { field: string }[]).map(({ field }) => field);
  }
}

test("a service requests its own kinds under its own keys, and nothing else", async () => {
  for (const caller of [...CALLERS, "account", "edge", "platform", ""]) {
    for (const [owner, key] of Object.entries(KEYS)) {
      for (const kind of ALL_KINDS) {
        const isOwnKind = OWN[caller as Caller]?.includes(kind) === true;
        const foreign = [...(owner === caller ? [] : ["key"]), ...(isOwnKind ? [] : ["legs.0.kind"])];
        const outcome = await outcomeOf(() => service.transfer(order(key, kind), as(caller)));
        expect(outcome, `${caller}: ${key} ${kind}`).toEqual(foreign.length === 0 ? ["transfer"] : foreign);
      }
    }
  }
});

test.for(["review:1:reverse", "imported:D:7", "funding", "constructor:1", "", "Funding:deposit:1"])(
  "a key like '%s' belongs to no caller, or to the one whose whole name it begins with",
  async (key) => {
    const expected = key === "funding" ? ["transfer"] : ["key"];
    expect(await outcomeOf(() => service.transfer(order(key, DEPOSIT), as("funding")))).toEqual(expected);
  },
);

test.each([
  ["exit:7:1", EXIT],
  ["withdrawal:0198c0de-0000-7000-8000-000000000001", WITHDRAWAL],
])("%s is a key of subscription", async (key, kind) => {
  expect(await outcomeOf(() => service.transfer(order(key, kind), as("subscription")))).toEqual(["transfer"]);
  expect(await outcomeOf(() => service.transfer(order(key, DEPOSIT), as("funding")))).toEqual(["key"]);
});

test("one foreign transfer of a batch refuses all of it", async () => {
  const requests = [order(KEYS.fee, FEE_CREDIT), order(KEYS.funding, FEE_CREDIT), order(KEYS.fee, DEPOSIT)];
  const outcome = await outcomeOf(() => service.transferBatch({ requests }, as("fee")));
  expect(outcome).toEqual(["requests.1.key", "requests.2.legs.0.kind"]);
  expect(await outcomeOf(() => service.transferBatch({ requests: [order(KEYS.fee, FEE_CREDIT)] }, as("fee")))).toEqual([
    "transferBatch",
  ]);
});

test("a chain has transfers of its caller and fees, under a lock of its caller, which no fee releases", async () => {
  const lockOwner = "subscription:departure:1:1";
  const fee = (own = {}) => order(KEYS.fee, FEE_DEBIT, { lockOwner, ...own });
  const payout = order("withdrawal:1", WITHDRAWAL, { lockOwner, releaseLock: true });
  const chain = (...requests: TransferRequest[]) =>
    outcomeOf(() => service.transferChain({ requests }, as("subscription")));
  expect(await chain(fee(), payout)).toEqual(["transferChain"]);
  expect(await chain(fee({ lockOwner: "funding:1" }), payout)).toEqual(["requests.0.lock_owner"]);
  expect(await chain(fee({ releaseLock: true }), payout)).toEqual(["requests.0.lock_owner"]);
  expect(await chain(order(KEYS.fee, WITHDRAWAL, { lockOwner }), payout)).toEqual(["requests.0.legs.0.kind"]);
  expect(await chain(order("withdrawal:1", FEE_DEBIT, { lockOwner }))).toEqual(["requests.0.legs.0.kind"]);
  expect(await chain(order(KEYS.funding, WITHDRAWAL, { lockOwner }))).toEqual(["requests.0.key"]);
});

test("an account lock is held and released by the service that it belongs to; a fee is paid under it", async () => {
  const lockOwner = "withdrawal:0198c0de-0000-7000-8000-000000000001:1";
  const lock = { login: "1001", lockOwner, withdrawal: undefined };
  for (const method of ["hold", "release"] as const) {
    expect(await outcomeOf(() => service[method](lock, as("subscription")))).toEqual([method]);
    expect(await outcomeOf(() => service[method](lock, as("funding")))).toEqual(["lock_owner"]);
  }
  const payment = (own: object) => outcomeOf(() => service.transfer(order(KEYS.fee, FEE_CREDIT, own), as("fee")));
  expect(await payment({ lockOwner })).toEqual(["transfer"]);
  expect(await payment({ lockOwner, releaseLock: true })).toEqual(["lock_owner"]);
});
