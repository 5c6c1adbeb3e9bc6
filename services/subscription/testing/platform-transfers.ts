import assert from "node:assert/strict";
import type { Refusal } from "#kernel/refusal.ts";
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

/** A key is one wish for ever: the first request executes it or makes it wait, every other is told what became of it. */
export function transferOnce(
  transfers: PlatformTransfers,
  request: TransferRequest,
  noLane: () => Refusal,
): TransferResult {
  const known = transfers.byKey.get(request.key);
  if (known !== undefined) {
    assert.deepEqual(request.legs, known.request.legs, `${request.key} was asked with another content`);
    return known.result;
  }
  const { login, legs } = { login: loginOf(request), legs: [] };
  if (request.holder !== "" && getAccount(transfers.ledger, login).holder !== request.holder) throw noLane();
  const transferId = BigInt(transfers.byKey.size + 1);
  const result = { transferId, key: request.key, state: TransferState.PENDING, refusalCode: "", platformCode: 0, legs };
  const fresh: PlatformTransfer = { request, result };
  transfers.byKey.set(request.key, fresh);
  execute(transfers, fresh);
  return fresh.result;
}

/** Executes what waits, as far as nothing stands in its way any more. */
export function carryOn(transfers: PlatformTransfers): void {
  for (const transfer of transfers.byKey.values()) execute(transfers, transfer);
}

function execute({ ledger, rules }: PlatformTransfers, transfer: PlatformTransfer): void {
  const { request, result } = transfer;
  if (result.state !== TransferState.PENDING || rules.delay(request)) return;
  const login = loginOf(request);
  const { holder } = getAccount(ledger, login);
  if (holder !== undefined && holder !== request.holder) return;
  const isCovered = balanceOf(ledger, login) + (request.legs[0]?.amount?.minorUnits ?? 0n) >= 0n;
  const refusalCode = rules.refuse(request) ?? (isCovered ? undefined : "insufficient_funds");
  if (refusalCode !== undefined) {
    transfer.result = { ...result, state: TransferState.REFUSED, refusalCode };
    return;
  }
  const { key, transferId } = result;
  const legs = request.legs.map((leg) => {
    const entry = { kind: leg.kind, amount: leg.amount?.minorUnits ?? 0n, key, transferId };
    const { dealId, dealAt } = enter(ledger, leg.login, entry);
    return { ...leg, state: TransferState.APPLIED, dealId, reference: "P", appliedAt: dealAt };
  });
  transfer.result = { ...result, state: TransferState.APPLIED, legs };
}

function loginOf({ legs, key }: TransferRequest): string {
  const [first] = legs;
  assert(first !== undefined, `${key} moves nothing`);
  return first.login;
}
