import assert from "node:assert/strict";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import type { Refusal } from "#kernel/refusal.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { type TransferRequest, type TransferResult, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { balanceOf, enter, getAccount, type PlatformLedger } from "./platform-ledger.ts";

export type PlatformTransfer = { readonly request: TransferRequest; result: TransferResult };

export type TransferRules = {
  /** Code under which a transfer is refused for good; undefined lets it pass. */
  refuse: (request: TransferRequest) => string | undefined;
  /** What is delayed stays PENDING until transfers are carried on. */
  delay: (request: TransferRequest) => boolean;
};

export type PlatformTransfers = {
  readonly ledger: PlatformLedger;
  readonly rules: TransferRules;
  readonly byKey: Map<string, PlatformTransfer>;
};

/** A key is one order for ever: the first request executes it or makes it wait, every other is told what became of it. */
export function transferOnce(
  transfers: PlatformTransfers,
  request: TransferRequest,
  refusal: (code: "lock_not_owned" | "account_busy") => Refusal,
): TransferResult {
  const known = transfers.byKey.get(request.key);
  if (known !== undefined) {
    assert.deepEqual(request.legs, known.request.legs, `${request.key} was asked with another content`);
    return known.result;
  }
  const { login, legs } = { login: loginOf(request), legs: [] };
  const { lockOwner } = getAccount(transfers.ledger, login);
  if (request.lockOwner !== "" && lockOwner !== request.lockOwner) throw refusal("lock_not_owned");
  if (neverWaits(request) && lockOwner !== undefined && lockOwner !== request.lockOwner) throw refusal("account_busy");
  const transferId = BigInt(transfers.byKey.size + 1);
  const result = { transferId, key: request.key, state: TransferState.PENDING, refusalCode: "", platformCode: 0, legs };
  const fresh: PlatformTransfer = { request, result };
  transfers.byKey.set(request.key, fresh);
  execute(transfers, fresh);
  return fresh.result;
}

/** Postings, and whatever is cut to what is there. */
function neverWaits({ upTo, legs }: TransferRequest): boolean {
  return upTo !== undefined || legs[0]?.kind === MovementKind.RESULT;
}

/** Executes what waits, as far as nothing stands in its way any more. */
export function carryOn(transfers: PlatformTransfers): void {
  for (const transfer of transfers.byKey.values()) execute(transfers, transfer);
}

function execute({ ledger, rules }: PlatformTransfers, transfer: PlatformTransfer): void {
  const { request, result } = transfer;
  if (result.state !== TransferState.PENDING || rules.delay(request)) return;
  const login = loginOf(request);
  const { lockOwner } = getAccount(ledger, login);
  if (lockOwner !== undefined && lockOwner !== request.lockOwner) return;
  const wanted = request.legs[0]?.amount?.minorUnits ?? 0n;
  const left = balanceOf(ledger, login) - (request.upTo?.floor?.minorUnits ?? 0n);
  const taken = request.upTo === undefined || -wanted <= left ? wanted : -(left > 0n ? left : 0n);
  const lack =
    taken === 0n ? "nothing_to_take" : balanceOf(ledger, login) + taken < 0n ? "insufficient_funds" : undefined;
  const refusalCode = rules.refuse(request) ?? lack;
  if (refusalCode !== undefined) {
    transfer.result = { ...result, state: TransferState.REFUSED, refusalCode };
    return;
  }
  const { key, transferId } = result;
  const legs = request.legs.map((leg) => {
    const amount = leg.amount?.minorUnits === wanted ? taken : -taken;
    const { dealId, dealAt } = enter(ledger, leg.login, { kind: leg.kind, amount, key, transferId });
    return {
      ...leg,
      amount: moneyToProto(usd(amount)),
      state: TransferState.APPLIED,
      dealId,
      reference: "P",
      appliedAt: dealAt,
    };
  });
  transfer.result = { ...result, state: TransferState.APPLIED, legs };
}

function loginOf({ legs, key }: TransferRequest): string {
  const [first] = legs;
  assert(first !== undefined, `${key} moves nothing`);
  return first.login;
}
