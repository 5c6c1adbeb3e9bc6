import assert from "node:assert/strict";
import type { Client } from "#kernel/contract/contract.ts";
import { refusalToProto } from "#kernel/contract/error.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { outcomeUnknown, serviceUnavailable } from "#kernel/contract/refusals.ts";
import { usd } from "#kernel/values/money.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import type { Break } from "#proto/pamm/common/v1/reconciliation.ts";
import { AccountRole, MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import {
  type HoldRequest,
  type HoldResponse,
  type LogBalance,
  type LogPosition,
  type PlatformServiceService,
  type OldPrice,
  PermitState,
  type ReadAccountResponse,
  type ReportRecoveredRequest,
  type ShownBalance,
  type TransferAnswer,
  type TransferRequest,
  type TransferResult,
  TransferState,
} from "#proto/pamm/platform/v1/platform.ts";
import { balanceOf, type FakeDeal, getAccount, lastEntry, openAccount, type PlatformLedger } from "./ledger.ts";
import {
  claimImported,
  execute,
  executeWaiting,
  listImported,
  release,
  transferOnce,
  type PlatformTransfers,
} from "./transfers.ts";

/** What goes wrong once, at the next call of this kind. */
export type Fault =
  | "lost answer"
  | "unreachable"
  | "unknown"
  | "expired"
  | "insufficient_funds"
  | "account_busy"
  | "platform_rejected";

export type PlatformFake = PlatformTransfers & {
  readonly client: Client<PlatformServiceService>;
  readonly faults: { readonly transfer: Fault[]; readonly hold: Fault[]; readonly release: Fault[] };
  /** While down, every call is refused. */
  readonly state: {
    isDown: boolean;
    /** How far the clock of the trading platform is ahead of the others. */
    aheadMs: number;
    /** Prices that are no marks, of any position. */
    oldPrices: OldPrice[];
    /** Of the permits: a transfer that names another one is refused for good. */
    generation: bigint;
    /** While they are not granted, no account is locked. */
    permits: PermitState;
    /** Everything that was lost is in the logs. */
    isImported: boolean;
  };
  /** The services that have reported, and for which generation. */
  readonly reports: ReportRecoveredRequest[];
  /** Open breaks. */
  readonly breaks: Break[];
  readonly deals: readonly FakeDeal[];
  readonly accountLocks: Map<string, string>;
  readonly released: readonly string[];
  /** Executes the credit that a rule delays. */
  readonly finish: (key: string) => void;
};

type Parts = Omit<PlatformFake, "client">;

type Options = {
  readonly now?: () => Date;
  /** Balances in cents of the Investors whose accounts are open from the beginning. */
  readonly balances?: Readonly<Record<string, bigint>>;
};

/**
 * The platform service in memory, as its contract describes it: a key is one transfer, an account lock has one owner and a
 * released owner never acquires it again, log entries are numbered, and all entries are in one feed. It fails only as `rules`,
 * `faults` and `state` require.
 */
export function platformFake({ now = () => new Date(), balances = {} }: Options = {}): PlatformFake {
  const accountLocks = new Map<string, string>();
  const ledger: PlatformLedger = {
    accounts: new Map(),
    accountLocks,
    released: [],
    archived: new Set(),
    foreign: new Set(),
    feed: [],
    deals: [],
    now,
  };
  for (const [login, opening] of Object.entries(balances)) openAccount(ledger, login, AccountRole.INVESTOR, opening);
  const { deals, released } = ledger;
  const no = () => false;
  const parts: Parts = {
    ledger,
    accountLocks,
    deals,
    released,
    byKey: new Map(),
    imported: new Map(),
    rules: { refuse: () => undefined, isBusy: no, losesAnswer: no, delay: no, delaysCredit: no, refusesCredit: no },
    faults: { transfer: [], hold: [], release: [] },
    state: { isDown: false, aheadMs: 0, oldPrices: [], generation: 1n, permits: PermitState.GRANTED, isImported: true },
    reports: [],
    breaks: [],
    finish(key) {
      const transfer = parts.byKey.get(key);
      assert(transfer !== undefined, `there is no transfer ${key}`);
      execute({ ...parts, rules: { ...parts.rules, delaysCredit: no } }, transfer);
    },
  };
  return { ...parts, client: clientOf(parts) };
}

function clientOf(fake: Parts): Client<PlatformServiceService> {
  const { ledger } = fake;
  const reach = (): void => {
    if (fake.state.isDown) throw refusal("platform_unavailable", "unavailable");
  };
  return {
    async transfer(request) {
      reach();
      return transfer(fake, request);
    },
    async transferBatch({ requests }) {
      reach();
      const keys = new Set(requests.map(({ key }) => key));
      assert.equal(keys.size, requests.length, "the keys of a batch differ");
      return { answers: requests.map((request) => answerOf(fake, request)) };
    },
    async transferChain({ requests }) {
      reach();
      return { answers: chain(fake, requests) };
    },
    async readTransfers({ keys }) {
      return { transfers: keys.flatMap((key) => fake.byKey.get(key)?.result ?? []) };
    },
    // No caller of the fake asks how its commands were sent, or who has made a deal.
    readAttempts: async () => ({ attempts: [] }),
    findTransferOfDeal: async () => ({ key: "", kind: MovementKind.UNSPECIFIED }),
    async hold(request) {
      reach();
      if (fake.state.permits !== PermitState.GRANTED) throw refusal("safety_stop", "unavailable");
      const { masterLogin } = request;
      const master = masterLogin === undefined ? undefined : readAccount(ledger, masterLogin, fake.state.aheadMs);
      return { ...hold(fake, request), ...(master?.complete && { master: { ...master, oldPrices: [] } }) };
    },
    async previewHold({ login, acceptsArchived }) {
      reach();
      const { lockOwner } = getAccount(ledger, login);
      const codes = [
        ...(ledger.archived.has(login) && acceptsArchived !== true ? ["account_archived"] : []),
        ...(lockOwner === undefined ? [] : ["account_busy"]),
      ];
      return {
        refusals: codes.map((code) => refusalToProto(refusal(code, "conflict"))),
        facts: factsOf(ledger, login),
      };
    },
    async release({ login, lockOwner }) {
      reach();
      if (fake.faults.release.shift() !== undefined) throw serviceUnavailable("platform");
      release(ledger, login, lockOwner);
      executeWaiting(fake);
      return {};
    },
    async readLog({ login, afterNumber, limit }) {
      reach();
      const { log } = getAccount(ledger, login);
      const entries = log.filter(({ number }) => number > afterNumber).slice(0, limit);
      return { entries, lastNumber: lastEntry(ledger, login).number };
    },
    async readAccount({ login, checkPrices }) {
      reach();
      const account = readAccount(ledger, login, fake.state.aheadMs);
      const symbols = checkPrices === true ? account.positions.map(({ symbol }) => symbol) : [];
      return { ...account, oldPrices: fake.state.oldPrices.filter(({ symbol }) => symbols.includes(symbol)) };
    },
    async readBalances({ positions }) {
      reach();
      return { balances: positions.map((position) => balanceAt(ledger, position)) };
    },
    async readLogBalances({ positions }) {
      return { balances: positions.map((position) => balanceAt(ledger, position).log) };
    },
    async listBreaks({ afterId, limit }) {
      const rest = fake.breaks.filter(({ id }) => id > afterId);
      return { items: rest.slice(0, limit), hasMore: rest.length > limit, checks: [] };
    },
    readStatement: notSupported,
    findAmendments: notSupported,
    createAccount: notSupported,
    disableAccount: notSupported,
    inspectClosing: notSupported,
    eraseAccount: notSupported,
    inspectAccounts: notSupported,
    adoptAccount: notSupported,
    getStatus: notSupported,
    async getPermits() {
      reach();
      const { permits: state, generation, isImported: importComplete } = fake.state;
      const isAwaited = state === PermitState.STOPPED && !fake.reports.some((each) => each.generation === generation);
      return {
        state,
        stoppedAt: undefined,
        resumableFrom: undefined,
        blocking: isAwaited ? [{ code: "owner_not_recovered", detail: "subscription" }] : [],
        imports: undefined,
        generation,
        importComplete,
      };
    },
    async reportRecovered(request) {
      reach();
      fake.reports.push(request);
      return {};
    },
    async listImportedFees(request) {
      reach();
      return listImported(fake, request);
    },
    async claimImportedFees({ fees }) {
      reach();
      for (const fee of fees) claimImported(fake, fee);
      executeWaiting(fake);
      return {};
    },
    listUnshownAccounts: notSupported,
    listReviews: notSupported,
    listReviewGroups: notSupported,
    decideReview: notSupported,
    decideReviewGroup: notSupported,
  };
}

function transfer(fake: Parts, request: TransferRequest): TransferResult {
  const archived = request.legs.find(({ login }) => fake.ledger.archived.has(login));
  const isCapital = request.legs.some(
    ({ kind, amount }) => kind === MovementKind.MIRROR && (amount?.minorUnits ?? 0n) > 0n,
  );
  if (archived !== undefined && (isCapital || !request.enqueue) && !fake.byKey.has(request.key)) {
    throw new Refusal({ ...refusal("account_archived", "conflict"), details: { mt5_login: archived.login } });
  }
  const fault = fake.faults.transfer.shift();
  if (fault === "unreachable") throw serviceUnavailable("platform");
  const isNew = !fake.byKey.has(request.key);
  if (fault === "unknown" && isNew) return unknownResult(fake, request.key);
  const { generation = fake.state.generation } = request;
  const isOutdated = generation !== fake.state.generation;
  const refuse = isOutdated
    ? () => "outdated"
    : fault === undefined || fault === "lost answer"
      ? fake.rules.refuse
      : () => fault;
  const result = transferOnce({ ...fake, rules: { ...fake.rules, refuse } }, request);
  if (fault === "lost answer" || fake.rules.losesAnswer(request)) throw outcomeUnknown("platform");
  return result;
}

/** The answer to a transfer that platform has not recorded yet. */
function unknownResult({ byKey }: Parts, key: string): TransferResult {
  const transferId = BigInt(byKey.size + 1);
  return { transferId, key, state: TransferState.UNKNOWN, refusalCode: "", platformCode: 0, legs: [] };
}

function answerOf(fake: Parts, request: TransferRequest): TransferAnswer {
  try {
    return { answer: { $case: "result", value: transfer(fake, request) } };
  } catch (error) {
    assert(error instanceof Refusal);
    return { answer: { $case: "refusal", value: refusalToProto(error) } };
  }
}

function chain(fake: Parts, requests: readonly TransferRequest[]): TransferAnswer[] {
  const answers: TransferAnswer[] = [];
  for (const request of requests) {
    const answer = answerOf(fake, request);
    answers.push(answer);
    if (!isOver(answer)) break;
  }
  return answers;
}

/** Whether the next transfer of a chain begins. */
function isOver({ answer }: TransferAnswer): boolean {
  if (answer?.$case === "refusal") return ["account_archived", "lock_not_owned"].includes(answer.value.code);
  const [first] = answer?.value.legs ?? [];
  return first?.state === TransferState.APPLIED || first?.state === TransferState.REFUSED;
}

function hold({ ledger, faults }: Parts, { login, lockOwner, acceptsArchived }: HoldRequest): HoldResponse {
  const fault = faults.hold.shift();
  if (ledger.archived.has(login) && acceptsArchived !== true) throw refusal("account_archived", "conflict");
  const { lockOwner: owner = lockOwner } = getAccount(ledger, login);
  if (ledger.released.includes(lockOwner)) throw refusal("lock_not_owned", "conflict");
  if (fault === "account_busy" || owner !== lockOwner) throw refusal("account_busy", "conflict");
  if (fault === "unreachable") throw serviceUnavailable("platform");
  if (fault === "platform_rejected") throw refusal(fault, "rejected");
  ledger.accountLocks.set(login, lockOwner);
  if (fault === "lost answer") throw outcomeUnknown("platform");
  return factsOf(ledger, login);
}

function factsOf(ledger: PlatformLedger, login: string): HoldResponse {
  const { number: logNumber, entryId: logEntryId } = lastEntry(ledger, login);
  const balance = moneyToProto(usd(balanceOf(ledger, login)));
  return { balance, logNumber, logEntryId, openPositions: getAccount(ledger, login).positions.length };
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
      archived: ledger.archived.has(login),
      otherCurrency: ledger.foreign.has(login),
      notShown: ledger.archived.has(login),
    },
  };
}

function readAccount(ledger: PlatformLedger, login: string, aheadMs: number): ReadAccountResponse {
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
    platformAt: new Date(ledger.now().getTime() + aheadMs),
    lastDealAt: lastEntry(ledger, login).dealAt,
    oldPrices: [],
  };
}

function refusal(code: string, status: "conflict" | "not_found" | "rejected" | "unavailable"): Refusal {
  return new Refusal({ code, status, message: code, outcome: "not_executed" });
}

async function notSupported(): Promise<never> {
  throw new Error("the platform in memory does not support this call");
}
