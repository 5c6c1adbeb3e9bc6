import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { keyHash } from "#kernel/values/key-hash.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/values/money.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import {
  type ClaimedFee,
  type ListImportedFeesRequest,
  type ListImportedFeesResponse,
  type TransferRequest,
  type TransferResult,
  TransferState,
} from "#proto/pamm/platform/v1/platform.ts";
import { balanceOf, enter, getAccount, type PlatformLedger } from "./ledger.ts";

export type PlatformTransfer = { readonly request: TransferRequest; result: TransferResult };

export type TransferRules = {
  /** Code under which a transfer is refused for good; undefined executes it. */
  refuse: (request: TransferRequest) => string | undefined;
  /** Refuses a new transfer with account_busy and records nothing. */
  isBusy: (request: TransferRequest) => boolean;
  /** The transfer is executed and its answer is lost. */
  losesAnswer: (request: TransferRequest) => boolean;
  /** The transfer is recorded and stays PENDING. */
  delay: (request: TransferRequest) => boolean;
  /** The debit is executed and the credit stays PENDING. */
  delaysCredit: (request: TransferRequest) => boolean;
  /** The debit is executed, the credit is refused, and the debit is reversed. */
  refusesCredit: (request: TransferRequest) => boolean;
};

/** A fee that was executed and that the service has lost; cents, positive. Without the account of its credit only the debit was. */
export type ImportedFee = {
  readonly transferId: bigint;
  readonly debitDealId: bigint;
  readonly login: string;
  readonly creditLogin: string | undefined;
  readonly amount: bigint;
};

export type PlatformTransfers = {
  readonly ledger: PlatformLedger;
  /** Those that no transfer has claimed, by the hash of the key. */
  readonly imported: Map<string, ImportedFee>;
  readonly rules: TransferRules;
  readonly byKey: Map<string, PlatformTransfer>;
};

const { APPLIED, PENDING, REFUSED } = TransferState;

/** A key is one transfer: the first request records it, and each request executes the legs that are pending and not delayed. */
export function transferOnce(transfers: PlatformTransfers, request: TransferRequest): TransferResult {
  const known = transfers.byKey.get(request.key) ?? claimOf(transfers, request);
  if (known !== undefined && !isDeepStrictEqual(request.legs, known.request.legs)) throw mismatch(request);
  const transfer = known ?? record(transfers, request);
  const isNew = transfer.result.state === PENDING;
  execute(transfers, transfer);
  return isNew && request.lockOwner !== "" ? afterDebit(transfer.result) : transfer.result;
}

/** Under an account lock the caller gets its answer before the credit has its outcome. */
function afterDebit(result: TransferResult): TransferResult {
  const [debit, credit] = result.legs;
  if (debit?.state !== APPLIED || credit === undefined) return result;
  const pending = { ...credit, state: PENDING, dealId: 0n, reference: "", appliedAt: undefined };
  return { ...result, state: PENDING, refusalCode: "", legs: [debit, pending] };
}

/** A fee that was executed before is the transfer of the request whose key has its hash. */
function claimOf(transfers: PlatformTransfers, { key, legs }: TransferRequest): PlatformTransfer | undefined {
  const [debit, credit] = legs;
  if (debit?.kind !== MovementKind.FEE_DEBIT || credit === undefined) return undefined;
  claimImported(transfers, { keyHash: keyHash(key), key, paymentAccountLogin: credit.login, due: credit.amount });
  return transfers.byKey.get(key);
}

/** Those that no transfer has claimed. */
export function listImported(
  { imported }: PlatformTransfers,
  { afterTransferId, limit }: ListImportedFeesRequest,
): ListImportedFeesResponse {
  const fees = Array.from(imported, ([hash, { login, creditLogin, amount, ...fee }]) => ({
    ...fee,
    keyHash: hash,
    investorLogin: login,
    amount: moneyToProto(usd(amount)),
    paymentAccountLogin: creditLogin,
  }));
  return { fees: fees.filter(({ transferId }) => transferId > afterTransferId).slice(0, limit) };
}

/** Gives an imported fee the key of its payment; a credit that was not executed is pending then. */
export function claimImported(
  { ledger, imported, byKey }: PlatformTransfers,
  { keyHash: hash, key, paymentAccountLogin, due = moneyToProto(usd(0n)) }: ClaimedFee,
): void {
  const own = imported.get(hash);
  if (own === undefined || byKey.has(key)) return;
  imported.delete(hash);
  const { amount, debitDealId: dealId, creditLogin = paymentAccountLogin } = own;
  const applied = { state: APPLIED, dealId, reference: "P", appliedAt: ledger.now() };
  const pending = { state: PENDING, dealId: 0n, reference: "", appliedAt: undefined };
  const debited = { login: own.login, kind: MovementKind.FEE_DEBIT };
  const credited = { login: creditLogin, kind: MovementKind.FEE_CREDIT };
  const requested = [
    { ...debited, amount: moneyToProto(usd(-due.minorUnits)) },
    { ...credited, amount: due },
  ];
  const executed = [
    { ...debited, number: 1n, amount: moneyToProto(usd(-amount)), ...applied },
    {
      ...credited,
      number: 2n,
      amount: moneyToProto(usd(amount)),
      ...(own.creditLogin === undefined ? pending : applied),
    },
  ];
  const request = {
    key,
    lockOwner: "",
    legs: requested,
    upTo: undefined,
    enqueue: false,
    comment: "",
    sendBefore: undefined,
    releaseLock: false,
  };
  const state = own.creditLogin === undefined ? PENDING : APPLIED;
  byKey.set(key, {
    request,
    result: { transferId: own.transferId, key, state, refusalCode: "", platformCode: 0, legs: executed },
  });
}

function record({ ledger, rules, byKey }: PlatformTransfers, request: TransferRequest): PlatformTransfer {
  const { key, lockOwner: owner } = request;
  const { lockOwner } = getAccount(ledger, loginOf(request));
  if (owner !== "" && lockOwner !== owner) throw conflict("lock_not_owned");
  if (neverQueues(request) && lockOwner !== undefined && lockOwner !== owner) throw conflict("account_busy");
  if (rules.isBusy(request)) throw conflict("account_busy");
  const result = {
    transferId: BigInt(byKey.size + 1),
    key,
    state: PENDING,
    refusalCode: "",
    platformCode: 0,
    legs: [],
  };
  const transfer = { request, result };
  byKey.set(key, transfer);
  return transfer;
}

/** Postings, and transfers that are limited to the balance, are refused instead of waiting for an account lock. */
function neverQueues({ upTo, legs }: TransferRequest): boolean {
  return upTo !== undefined || legs[0]?.kind === MovementKind.RESULT;
}

/** Executes the pending transfers that neither a rule nor an account lock delays any longer. */
export function executeWaiting(transfers: PlatformTransfers): void {
  for (const transfer of transfers.byKey.values()) execute(transfers, transfer);
}

export function execute({ ledger, rules }: PlatformTransfers, transfer: PlatformTransfer): void {
  const { request } = transfer;
  if (transfer.result.state !== PENDING || rules.delay(request)) return;
  if (transfer.result.legs.length === 0) begin(ledger, rules, transfer);
  if (transfer.result.state !== PENDING || transfer.result.legs.length === 0) return;
  const { key, comment, lockOwner } = request;
  const { result } = transfer;
  const legs = result.legs.map((leg, index) => {
    if (leg.state !== PENDING || (index === 1 && rules.delaysCredit(request))) return leg;
    if (index === 1 && rules.refusesCredit(request)) return { ...leg, state: REFUSED };
    const { login, kind, amount } = leg;
    const moved = { kind, amount: amount?.minorUnits ?? 0n, key, transferId: result.transferId, comment, lockOwner };
    const { dealId, dealAt } = enter(ledger, login, moved);
    return { ...leg, state: APPLIED, dealId, reference: "P", appliedAt: dealAt };
  });
  transfer.result = { ...result, legs, state: legs.every(({ state }) => state === APPLIED) ? APPLIED : PENDING };
  if (legs[1]?.state === REFUSED) reverse(ledger, transfer);
  if (request.releaseLock && transfer.result.state === APPLIED) release(ledger, loginOf(request), lockOwner);
}

function reverse(ledger: PlatformLedger, transfer: PlatformTransfer): void {
  const { result } = transfer;
  const { key, transferId, legs } = result;
  const [debit] = legs;
  assert(debit !== undefined, "a refused credit has a debit");
  const amount = -(debit.amount?.minorUnits ?? 0n);
  const kind = MovementKind.REVERSAL;
  const { dealId, dealAt } = enter(ledger, debit.login, { kind, amount, key, transferId });
  const reversal = { ...debit, kind, amount: moneyToProto(usd(amount)), dealId, appliedAt: dealAt };
  transfer.result = { ...result, state: REFUSED, refusalCode: "credit_refused", legs: [...legs, reversal] };
}

/** Ends an account lock for good. */
export function release(ledger: PlatformLedger, login: string, lockOwner: string): void {
  ledger.released.push(lockOwner);
  if (ledger.accountLocks.get(login) === lockOwner) ledger.accountLocks.delete(login);
}

/** Decides the amount or refuses; a transfer that waits for the lock of another owner stays as it is. */
function begin(ledger: PlatformLedger, rules: TransferRules, transfer: PlatformTransfer): void {
  const { request, result } = transfer;
  const login = loginOf(request);
  const { lockOwner } = getAccount(ledger, login);
  if (lockOwner !== undefined && lockOwner !== request.lockOwner) return;
  const wanted = request.legs[0]?.amount?.minorUnits ?? 0n;
  const left = balanceOf(ledger, login) - (request.upTo?.floor?.minorUnits ?? 0n) - creditedAfterFloor(ledger, request);
  const taken = request.upTo === undefined || -wanted <= left ? wanted : -(left > 0n ? left : 0n);
  const refusalCode = refusalOf({ ledger, rules, request, taken });
  const state = refusalCode === undefined ? PENDING : REFUSED;
  const legs = request.legs.map((leg, index) => ({
    ...leg,
    number: result.transferId * 2n + BigInt(index),
    amount: moneyToProto(usd(leg.amount?.minorUnits === wanted ? taken : -taken)),
    state,
    dealId: 0n,
    reference: "",
    appliedAt: undefined,
  }));
  transfer.result = { ...result, state, refusalCode: refusalCode ?? "", legs };
}

function creditedAfterFloor(ledger: PlatformLedger, request: TransferRequest): bigint {
  const { filedNumber } = request.upTo ?? {};
  return getAccount(ledger, loginOf(request)).log.reduce((sum, { number, kind, amount }) => {
    const minor = amount?.minorUnits ?? 0n;
    const isNew = filedNumber !== undefined && number > filedNumber && kind !== MovementKind.RESULT;
    return isNew && minor > 0n ? sum + minor : sum;
  }, 0n);
}

type Decision = Pick<PlatformTransfers, "ledger" | "rules"> & {
  readonly request: TransferRequest;
  readonly taken: bigint;
};

function refusalOf({ ledger, rules, request, taken }: Decision): string | undefined {
  const refused = rules.refuse(request);
  if (refused !== undefined) return refused;
  if (request.sendBefore !== undefined && request.sendBefore < ledger.now()) return "expired";
  if (taken === 0n) return "nothing_to_take";
  return balanceOf(ledger, loginOf(request)) + taken < 0n ? "insufficient_funds" : undefined;
}

/** Only a service that has lost its records uses a key again for another posting; for any other transfer it would be a mistake. */
function mismatch({ key }: TransferRequest): Refusal {
  assert(key.startsWith("posting:"), `${key} has another content`);
  const code = "transfer_mismatch";
  return new Refusal({ code, status: "conflict", message: code, outcome: "unknown" });
}

function conflict(code: "lock_not_owned" | "account_busy"): Refusal {
  return new Refusal({ code, status: "conflict", message: code, outcome: "not_executed" });
}

function loginOf({ legs, key }: TransferRequest): string {
  const [first] = legs;
  assert(first !== undefined, `${key} moves nothing`);
  return first.login;
}
