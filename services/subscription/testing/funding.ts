import type { CallContext } from "#kernel/contract/contract.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import type { TransferResult } from "#proto/pamm/platform/v1/platform.ts";
import { DepartureKind, type LeaveRequest } from "#proto/pamm/subscription/v1/subscription.ts";
import type { HeldDeparture } from "../processes/departure/departing.ts";
import { aCall, type World } from "./world.ts";

/** A deposit as the funding service sends it: it waits while the login is locked. */
export async function deposit(world: World, login: string, amount: bigint): Promise<TransferResult> {
  const key = `funding:deposit:${(world.state.keys += 1)}`;
  return await transfer(world, { key, lockOwner: "", login, kind: MovementKind.DEPOSIT, amount });
}

/** A withdrawal of the funding service that holds the account lock, with its leave request. */
export type Withdrawal = { readonly request: LeaveRequest; readonly lockOwner: string };

export async function holdForWithdrawal(
  { platform }: World,
  login: string,
  requested: bigint,
  { key = `funding:withdrawal:${login}`, number = 1 } = {},
): Promise<Withdrawal> {
  const lockOwner = `${key}:${number}`;
  const held = await platform.client.hold({ login, lockOwner }, aCall());
  const request: LeaveRequest = {
    key,
    try: number,
    investorLogin: login,
    kind: DepartureKind.WITHDRAWAL,
    requested: moneyToProto(usd(requested)),
    heldBalance: held.balance,
    heldLogNumber: held.logNumber,
    payoutKey: `${key}:out`,
    feeSuffix: `WD${key}`,
  };
  return { request, lockOwner };
}

/** The leave as the service reads it from its request. */
export function askedLeaveOf({ request }: Withdrawal): HeldDeparture {
  const { requested, heldBalance, ...rest } = request;
  return {
    ...rest,
    kind: "WITHDRAWAL",
    requested: requested?.minorUnits ?? 0n,
    heldBalance: heldBalance?.minorUnits ?? 0n,
  };
}

export async function payOut(
  world: World,
  { request, lockOwner }: Withdrawal,
  amount: bigint,
): Promise<TransferResult> {
  const { payoutKey: key, investorLogin: login } = request;
  return await transfer(world, { key, lockOwner, login, kind: MovementKind.WITHDRAWAL, amount: -amount });
}

/** A weekly fee as the fee service collects it, without an account lock. */
export async function takeFee(
  world: World,
  login: string,
  { key, amount }: { readonly key: string; readonly amount: bigint },
): Promise<TransferResult> {
  return await transfer(world, { key, lockOwner: "", login, kind: MovementKind.FEE_DEBIT, amount: -amount });
}

export async function release({ platform }: World, { request, lockOwner }: Withdrawal): Promise<void> {
  await platform.client.release({ login: request.investorLogin, lockOwner }, aCall());
}

/** A whole withdrawal: account lock, leave, fees, payout, release. Returns the paid cents. */
export async function withdraw(world: World, login: string, amount: bigint, key: string): Promise<bigint> {
  const withdrawal = await holdForWithdrawal(world, login, amount, { key });
  try {
    const { effective } = await world.service.leave(withdrawal.request, aCall());
    await world.fees.client.collect({ key, lockOwner: withdrawal.lockOwner }, aCall());
    const paid = effective?.minorUnits ?? 0n;
    if (paid > 0n) await payOut(world, withdrawal, paid);
    return paid;
  } finally {
    await release(world, withdrawal);
  }
}

type TransferInput = {
  readonly key: string;
  readonly lockOwner: string;
  readonly login: string;
  readonly kind: MovementKind;
  readonly amount: bigint;
};

async function transfer(
  { platform }: World,
  input: TransferInput,
  context: CallContext = aCall(),
): Promise<TransferResult> {
  const { key, lockOwner, login, kind, amount } = input;
  const legs = [{ login, kind, amount: moneyToProto(usd(amount)) }];
  const upTo = kind === MovementKind.FEE_DEBIT ? { floor: moneyToProto(usd(0n)) } : undefined;
  const rest = { upTo, enqueue: false, comment: "", sendBefore: undefined, releaseLock: false };
  return await platform.client.transfer({ key, lockOwner, legs, ...rest }, context);
}
