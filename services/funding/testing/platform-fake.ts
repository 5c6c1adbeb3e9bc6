import type { Client } from "#kernel/contract/contract.ts";
import { outcomeUnknown, serviceUnavailable } from "#kernel/contract/refusals.ts";
import { Refusal } from "#kernel/refusal.ts";
import {
  TransferState,
  type PlatformServiceService,
  type TransferRequest,
  type TransferResult,
} from "#proto/pamm/platform/v1/platform.ts";

/** What goes wrong at the next call of a kind, once. */
export type Fault = "lost answer" | "unreachable" | "unknown" | "expired" | "insufficient_funds" | "account_busy";

export type PlatformFake = Pick<
  Client<PlatformServiceService>,
  "transfer" | "getTransfer" | "hold" | "release" | "getBalance"
> & {
  readonly deals: { key: string; login: string; minor: bigint; comment: string; lockOwner: string }[];
  readonly accountLocks: Map<string, string>;
  readonly released: string[];
  readonly faults: { transfer: Fault[]; hold: Fault[]; release: Fault[] };
  balanceOf(login: string): bigint;
};

/** The money side of platform in memory: a key is executed once, an account lock has one holder, and a released holder never comes back. */
export function platformFake({ balances = {} }: { balances?: Record<string, bigint> } = {}): PlatformFake {
  const results = new Map<string, TransferResult>();
  const fake: PlatformFake = {
    deals: [],
    accountLocks: new Map(),
    released: [],
    faults: { transfer: [], hold: [], release: [] },
    balanceOf: (login) =>
      fake.deals.reduce((sum, deal) => (deal.login === login ? sum + deal.minor : sum), balances[login] ?? 0n),

    async transfer(request) {
      const fault = fake.faults.transfer.shift();
      if (fault === "unreachable") throw serviceUnavailable("platform");
      const known = results.get(request.key);
      const result = known ?? execute(fake, request, fault);
      if (result.state !== TransferState.UNKNOWN) results.set(request.key, result);
      if (fault === "lost answer") throw outcomeUnknown("platform");
      return result;
    },
    async getTransfer({ key }) {
      const known = results.get(key);
      if (known === undefined) throw refusal("transfer_not_found");
      return known;
    },
    async hold({ login, lockOwner }) {
      const fault = fake.faults.hold.shift();
      const current = fake.accountLocks.get(login) ?? lockOwner;
      if (fake.released.includes(lockOwner)) throw refusal("lock_not_owned");
      if (fault === "account_busy" || current !== lockOwner) throw refusal("account_busy");
      if (fault === "unreachable") throw serviceUnavailable("platform");
      fake.accountLocks.set(login, lockOwner);
      if (fault === "lost answer") throw outcomeUnknown("platform");
      const balance = { currencyCode: "USD", minorUnits: fake.balanceOf(login) };
      return { balance, logNumber: 7n, logEntryId: 70n, openPositions: 0 };
    },
    async release({ login, lockOwner }) {
      if (fake.faults.release.shift() !== undefined) throw serviceUnavailable("platform");
      fake.released.push(lockOwner);
      if (fake.accountLocks.get(login) === lockOwner) fake.accountLocks.delete(login);
      return {};
    },
    async getBalance({ login }) {
      return { balance: { currencyCode: "USD", minorUnits: fake.balanceOf(login) } };
    },
  };
  return fake;
}

function execute(fake: PlatformFake, request: TransferRequest, fault: Fault | undefined): TransferResult {
  const base = {
    transferId: BigInt(fake.deals.length + 1),
    key: request.key,
    refusalCode: "",
    platformCode: 0,
    legs: [],
  };
  if (fault === "unknown") return { ...base, state: TransferState.UNKNOWN };
  if (fault === "insufficient_funds" || fault === "expired" || fault === "account_busy") {
    return { ...base, state: TransferState.REFUSED, refusalCode: fault };
  }
  if (request.sendBefore !== undefined && request.sendBefore < new Date()) {
    return { ...base, state: TransferState.REFUSED, refusalCode: "expired" };
  }
  const [leg] = request.legs;
  if (leg?.amount === undefined) throw new Error("a transfer has a leg");
  const { login, kind, amount } = leg;
  fake.deals.push({
    key: request.key,
    login,
    minor: amount.minorUnits,
    comment: request.comment,
    lockOwner: request.lockOwner,
  });
  const dealId = 1_000n + BigInt(fake.deals.length);
  const applied = { login, kind, amount, state: TransferState.APPLIED, dealId, reference: "P", appliedAt: new Date() };
  return { ...base, state: TransferState.APPLIED, legs: [applied] };
}

function refusal(code: string): Refusal {
  return new Refusal({ code, status: "conflict", message: code });
}
