import assert from "node:assert/strict";
import type { Client } from "#kernel/contract/contract.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { refusalToProto } from "#kernel/contract/error.ts";
import { usd } from "#kernel/money.ts";
import { Refusal } from "#kernel/refusal.ts";
import type {
  HoldResponse,
  LogBalance,
  LogPosition,
  PlatformServiceService,
  ReadAccountResponse,
  ShownBalance,
  TransferAnswer,
  TransferRequest,
} from "#proto/pamm/platform/v1/platform.ts";
import { balanceOf, getAccount, lastEntry, type PlatformLedger } from "./platform-ledger.ts";
import { carryOn, type PlatformTransfers, transferOnce } from "./platform-transfers.ts";

export type PlatformFake = PlatformTransfers & {
  readonly client: Client<PlatformServiceService>;
  /** Set to make it impossible to reach. */
  readonly state: { isDown: boolean };
};

/**
 * Platform as its contract describes it, in memory: keys, account locks with tombstones, logs with numbers, one feed. It fails
 * only as its rules say.
 */
export function platformFake(now: () => Date): PlatformFake {
  const ledger: PlatformLedger = { accounts: new Map(), feed: [], now };
  const rules = { refuse: () => undefined, delay: () => false };
  const transfers: PlatformTransfers = { ledger, rules, byKey: new Map() };
  const state = { isDown: false };
  return { ...transfers, state, client: clientOf(transfers, state) };
}

function clientOf(transfers: PlatformTransfers, state: { isDown: boolean }): Client<PlatformServiceService> {
  const { ledger } = transfers;
  const reach = (): void => {
    if (state.isDown) throw refusal("platform_unavailable", "unavailable");
  };
  return {
    async transfer(request) {
      reach();
      return transferOnce(transfers, request, busyOrLockNotOwned);
    },
    async transferBatch({ requests }) {
      reach();
      return { answers: requests.map((request) => answerOf(transfers, request)) };
    },
    async getTransfer({ key }) {
      const transfer = transfers.byKey.get(key);
      if (transfer === undefined) throw refusal("transfer_not_found", "not_found");
      return transfer.result;
    },
    async hold({ login, lockOwner }) {
      reach();
      return hold(ledger, login, lockOwner);
    },
    async release({ login, lockOwner }) {
      reach();
      const account = getAccount(ledger, login);
      account.released.add(lockOwner);
      if (account.lockOwner === lockOwner) account.lockOwner = undefined;
      carryOn(transfers);
      return {};
    },
    async readLog({ login, afterNumber, limit }) {
      reach();
      const { log } = getAccount(ledger, login);
      const entries = log.filter(({ number }) => number > afterNumber).slice(0, limit);
      return { entries, lastNumber: lastEntry(ledger, login).number };
    },
    async readAccount({ login }) {
      reach();
      return readAccount(ledger, login);
    },
    getBalance: async ({ login }) => ({ balance: moneyToProto(usd(balanceOf(ledger, login))) }),
    createAccount: notAsked,
    disableAccount: notAsked,
    inspectAccounts: notAsked,
    adoptAccount: notAsked,
    getStatus: notAsked,
    listBreaks: notAsked,
    listReviews: notAsked,
    decideReview: notAsked,
    async readBalances({ positions }) {
      reach();
      return { balances: positions.map((position) => balanceAt(ledger, position)) };
    },
    async readLogBalances({ positions }) {
      return { balances: positions.map((position) => balanceAt(ledger, position).log) };
    },
  };
}

function balanceAt(ledger: PlatformLedger, { login, number }: LogPosition): ShownBalance & { log: LogBalance } {
  const { log } = getAccount(ledger, login);
  const filed = log.filter((entry) => entry.number <= number);
  const minor = filed.reduce((total, { amount }) => total + (amount?.minorUnits ?? 0n), 0n);
  const deal = filed.findLast(({ dealId }) => dealId > 0n);
  return {
    login,
    balance: moneyToProto(usd(balanceOf(ledger, login))),
    log: {
      login,
      balance: moneyToProto(usd(minor)),
      dealId: deal?.dealId ?? 0n,
      dealAt: deal?.dealAt,
      lastNumber: lastEntry(ledger, login).number,
      lastDealAt: log.findLast(({ dealId }) => dealId > 0n)?.dealAt,
    },
  };
}

function hold(ledger: PlatformLedger, login: string, lockOwner: string): HoldResponse {
  const account = getAccount(ledger, login);
  if (account.released.has(lockOwner)) throw lockNotOwned();
  if (account.lockOwner !== undefined && account.lockOwner !== lockOwner) throw refusal("account_busy", "conflict");
  account.lockOwner = lockOwner;
  const { number: logNumber, entryId: logEntryId } = lastEntry(ledger, login);
  const balance = moneyToProto(usd(balanceOf(ledger, login)));
  return { balance, logNumber, logEntryId, openPositions: account.positions.length };
}

function readAccount(ledger: PlatformLedger, login: string): ReadAccountResponse {
  const { positions, isComplete } = getAccount(ledger, login);
  const balance = moneyToProto(usd(balanceOf(ledger, login)));
  return {
    balance,
    logBalance: balance,
    logNumber: lastEntry(ledger, login).number,
    positions: positions.map(({ profit, swap, ...position }) => ({
      ...position,
      profit: moneyToProto(usd(profit)),
      swap: moneyToProto(usd(swap)),
    })),
    complete: isComplete,
  };
}

function answerOf(transfers: PlatformTransfers, request: TransferRequest): TransferAnswer {
  try {
    return { answer: { $case: "result", value: transferOnce(transfers, request, busyOrLockNotOwned) } };
  } catch (error) {
    assert(error instanceof Refusal);
    return { answer: { $case: "refusal", value: refusalToProto(error) } };
  }
}

function busyOrLockNotOwned(code: "lock_not_owned" | "account_busy"): Refusal {
  return refusal(code, "conflict");
}

function lockNotOwned(): Refusal {
  return refusal("lock_not_owned", "conflict");
}

function refusal(code: string, status: "conflict" | "not_found" | "unavailable"): Refusal {
  return new Refusal({ code, status, message: code, outcome: "not_executed" });
}

async function notAsked(): Promise<never> {
  throw new Error("subscription never asks this");
}
