import assert from "node:assert/strict";
import { moneyFromProto, moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import { Refusal } from "#kernel/refusal.ts";
import { Outcome, RefusalStatus } from "#proto/pamm/common/v1/error.ts";
import type { Break } from "#proto/pamm/common/v1/reconciliation.ts";
import type { AccountMoved } from "#proto/pamm/platform/v1/movement.ts";
import {
  type LogBalance,
  type TransferRequest,
  type TransferResult,
  TransferState,
} from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";

export type PlatformRules = {
  /** Code under which a transfer is refused for good. */
  refuse: (request: TransferRequest) => string | undefined;
  /** Nothing is recorded, and it is asked again. */
  isBusy: (request: TransferRequest) => boolean;
  /** Executed, and the answer never arrives. */
  losesAnswer: (request: TransferRequest) => boolean;
  /** The debit is made, the credit comes later. */
  delaysCredit: (request: TransferRequest) => boolean;
};

/** Platform as fee sees it, in memory: a key is one order for ever, and money is neither made nor lost. */
export type PlatformFake = {
  readonly balances: Map<string, bigint>;
  readonly accountLocks: Map<string, string>;
  readonly byKey: Map<string, TransferResult>;
  readonly rules: PlatformRules;
  /** Open breaks, and logs of accounts from entry 1 on. */
  readonly breaks: Break[];
  readonly logs: Map<string, AccountMoved[]>;
  /** What is under way under a key is done, though nobody asks. */
  readonly finish: (key: string) => void;
  readonly client: Deps["platform"];
};

const { APPLIED, PENDING, REFUSED } = TransferState;

export function platformFake(now: () => Date): PlatformFake {
  const rules: PlatformRules = {
    refuse: () => undefined,
    isBusy: () => false,
    losesAnswer: () => false,
    delaysCredit: () => false,
  };
  const fake: PlatformFake = {
    balances: new Map(),
    accountLocks: new Map(),
    byKey: new Map(),
    rules,
    breaks: [],
    logs: new Map(),
    finish(key) {
      const result = fake.byKey.get(key);
      assert(result !== undefined, "only what is known is finished");
      fake.byKey.set(key, proceed(fake, result, { at: now(), isDelayed: false }));
    },
    client: {
      async getTransfer({ key }) {
        const result = fake.byKey.get(key);
        if (result === undefined) throw new Refusal({ code: "transfer_not_found", status: "not_found", message: key });
        return result;
      },
      async listBreaks({ afterId, limit }) {
        const rest = fake.breaks.filter(({ id }) => id > afterId);
        return { items: rest.slice(0, limit), hasMore: rest.length > limit, checks: [] };
      },
      async readLogBalances({ positions }) {
        return { balances: positions.map(({ login }) => logBalance(login, fake.logs.get(login) ?? [])) };
      },
      async readLog({ login, afterNumber, limit }) {
        const entries = fake.logs.get(login) ?? [];
        const rest = entries.filter(({ number }) => number > afterNumber);
        return { entries: rest.slice(0, limit), lastNumber: BigInt(entries.length) };
      },
      transfer: async (request) => transferOnce(fake, request, now()),
      async transferBatch({ requests }) {
        const keys = new Set(requests.map(({ key }) => key));
        assert.equal(keys.size, requests.length, "the keys of a batch differ");
        return { answers: requests.map((request) => ({ answer: answerTo(fake, request, now()) })) };
      },
    },
  };
  return fake;
}

type Answer = { $case: "result"; value: TransferResult } | { $case: "refusal"; value: ReturnType<typeof errorOf> };

function answerTo(fake: PlatformFake, request: TransferRequest, at: Date): Answer {
  try {
    return { $case: "result", value: transferOnce(fake, request, at) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { $case: "refusal", value: errorOf(error) };
  }
}

function transferOnce(fake: PlatformFake, request: TransferRequest, at: Date): TransferResult {
  const { key, lockOwner } = request;
  const { byKey, accountLocks, rules } = fake;
  const known = byKey.get(key);
  if (known === undefined) {
    const accountLock = accountLocks.get(debtorOf(request));
    if (lockOwner !== "" && accountLock !== lockOwner) throw refusal("lock_not_owned");
    if ((accountLock ?? lockOwner) !== lockOwner || rules.isBusy(request)) throw refusal("account_busy");
  }
  const isDelayed = rules.delaysCredit(request);
  const result = proceed(fake, known ?? record(fake, request), { at, isDelayed });
  byKey.set(key, result);
  if (rules.losesAnswer(request)) {
    throw new Refusal({ code: "outcome_unknown", status: "unknown_outcome", message: "lost", outcome: "unknown" });
  }
  return result;
}

/** Cut to what is there above the floor, when it is first heard of. */
function record({ balances, byKey, rules }: PlatformFake, request: TransferRequest): TransferResult {
  const asked = moneyFromProto(request.legs[1]?.amount).minor;
  const above = (balances.get(debtorOf(request)) ?? 0n) - (request.upTo?.floor?.minorUnits ?? 0n);
  const amount = asked < above ? asked : above;
  const code = rules.refuse(request) ?? (amount <= 0n ? "nothing_to_take" : "");
  const legs = request.legs.map(({ login, kind }, index) => ({
    login,
    kind,
    amount: moneyToProto(usd(index === 0 ? -amount : amount)),
    state: code === "" ? PENDING : REFUSED,
    dealId: 0n,
    reference: "",
    appliedAt: undefined,
  }));
  const state = code === "" ? PENDING : REFUSED;
  return { transferId: BigInt(byKey.size + 1), key: request.key, state, refusalCode: code, platformCode: 0, legs };
}

type Circumstances = { readonly at: Date; readonly isDelayed: boolean };

function proceed(fake: PlatformFake, result: TransferResult, { at, isDelayed }: Circumstances): TransferResult {
  if (result.state !== PENDING) return result;
  const legs = result.legs.map((leg, index) => {
    if (leg.state !== PENDING || (index === 1 && isDelayed)) return leg;
    const before = fake.balances.get(leg.login) ?? 0n;
    fake.balances.set(leg.login, before + moneyFromProto(leg.amount).minor);
    return { ...leg, state: APPLIED, dealId: result.transferId * 10n + BigInt(index), appliedAt: at };
  });
  return { ...result, legs, state: legs.every(({ state }) => state === APPLIED) ? APPLIED : PENDING };
}

function logBalance(login: string, entries: readonly AccountMoved[]): LogBalance {
  const nothing = { balance: undefined, dealId: 0n, dealAt: undefined, lastDealAt: undefined };
  return { login, lastNumber: BigInt(entries.length), ...nothing };
}

function debtorOf({ legs }: TransferRequest): string {
  return legs[0]?.login ?? "";
}

function refusal(code: string): Refusal {
  return new Refusal({ code, status: "conflict", message: code, outcome: "not_executed" });
}

function errorOf({ code, message }: Refusal) {
  const status = RefusalStatus.CONFLICT;
  const outcome = Outcome.NOT_EXECUTED;
  return { code, status, message, details: {}, errors: [], outcome, operationId: "", retryAfterMs: 0n };
}
