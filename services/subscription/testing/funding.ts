import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { refusalFromProto } from "#kernel/contract/error.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/values/money.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import type { TransferResult } from "#proto/pamm/platform/v1/platform.ts";
import {
  WithdrawalState,
  type WithdrawRequest,
  type WithdrawResponse,
} from "#proto/pamm/subscription/v1/subscription.ts";
import { holdLock } from "../processes/account-lock.ts";
import { complete } from "../processes/departure/complete.ts";
import { decide } from "../processes/departure/decide.ts";
import type { HeldDeparture } from "../processes/departure/carry-out.ts";
import { type Departure, getDeparture, insertDepartures } from "../store/departures.ts";
import { aCall, type World } from "./world.ts";

/** A deposit as the funding service sends it: it waits while the login is locked. */
export async function deposit(world: World, login: string, amount: bigint): Promise<TransferResult> {
  const key = `funding:deposit:${(world.state.keys += 1)}`;
  return await transfer(world, key, { login, kind: MovementKind.DEPOSIT, amount });
}

/** A withdrawal whose first try has the account lock, and is not decided. */
export type Withdrawal = HeldDeparture & { readonly lockOwner: string };

const HELD_MS = 60_000;

/** Begins a withdrawal and takes the account lock, as `depart` does. */
export async function holdForWithdrawal(
  { deps }: Pick<World, "deps">,
  login: string,
  requested: bigint,
  { operationId = `of ${login}`, masterLogin }: { operationId?: string; masterLogin?: string } = {},
): Promise<Withdrawal> {
  const times = {
    deadlineAt: new Date(Date.now() + HELD_MS),
    at: deps.now(),
    recoverInMs: HELD_MS,
    queueUntil: undefined,
  };
  const outside = { subscriptionId: null, masterLogin: null, comment: "", requestId: "" };
  const own = { kind: "WITHDRAWAL", operationId, investorLogin: login, requested, ...outside } as const;
  const [begun] = await insertDepartures(deps.pool, [{ ...own, ...times }]);
  const departure = begun ?? (await getDeparture(deps.pool, operationId));
  const { lockOwner } = departure;
  assert(lockOwner !== null);
  const held = await holdLock(deps, { login, lockOwner, masterLogin }, aCall());
  const { balance: heldBalance, logNumber: heldLogNumber, master: reading } = held;
  return { ...departure, lockOwner, heldBalance, heldLogNumber, reading };
}

/** Decides it, and throws the refusal of the try. What is decided is completed by the recovery job, or `complete`. */
export async function decideWithdrawal(
  { deps }: Pick<World, "deps">,
  withdrawal: Withdrawal,
  context: CallContext = aCall(),
): Promise<Departure> {
  const end = await decide(deps, withdrawal, context);
  if (end.kind === "refused") throw end.refusal;
  return end.kind === "decided" ? end.departure : await getDeparture(deps.pool, withdrawal.operationId);
}

/** Pays out what was decided, with the fees before it, and releases the account lock. */
export async function completeWithdrawal({ deps }: Pick<World, "deps">, { operationId }: Withdrawal): Promise<void> {
  await complete(deps, await getDeparture(deps.pool, operationId), aCall());
}

/** A weekly fee as the fee service collects it, without an account lock. */
export async function takeFee(
  world: World,
  login: string,
  { key, amount }: { readonly key: string; readonly amount: bigint },
): Promise<TransferResult> {
  return await transfer(world, key, { login, kind: MovementKind.FEE_DEBIT, amount: -amount });
}

export async function release({ platform }: World, { investorLogin: login, lockOwner }: Withdrawal): Promise<void> {
  await platform.client.release({ login, lockOwner }, aCall());
}

type WantedWithdrawal = Pick<WithdrawRequest, "operationId" | "investorLogin"> & { readonly amount: bigint };

export function aWithdrawal({ deps }: Pick<World, "deps">, { amount, ...own }: WantedWithdrawal): WithdrawRequest {
  const deadline = new Date(deps.now().getTime() + HELD_MS);
  return { ...own, amount: moneyToProto(usd(amount)), comment: "", deadline };
}

type Requested = Partial<Omit<WithdrawRequest, "investorLogin" | "amount">> & { readonly call?: CallContext };

/** Requests a withdrawal of cents as the funding service does; by default the command is its operation. */
export async function requestWithdrawal(
  { service, deps }: Pick<World, "service" | "deps">,
  investorLogin: string,
  amount: bigint,
  { call = aCall(), ...requested }: Requested = {},
): Promise<WithdrawResponse> {
  const request = aWithdrawal({ deps }, { operationId: call.commandId, investorLogin, amount });
  return await service.withdraw({ ...request, ...requested }, call);
}

/** A whole withdrawal. Returns the paid cents; throws its refusal. */
export async function withdraw(
  world: Pick<World, "service" | "deps">,
  login: string,
  amount: bigint,
  operationId: string,
): Promise<bigint> {
  const { state, refusal, figures } = await requestWithdrawal(world, login, amount, { operationId });
  if (refusal !== undefined) throw refusalFromProto(refusal);
  assert.equal(state, WithdrawalState.PAID);
  return figures?.effective?.minorUnits ?? 0n;
}

/** Of one leg, without an account lock. */
async function transfer(
  { platform }: World,
  key: string,
  leg: { readonly login: string; readonly kind: MovementKind; readonly amount: bigint },
): Promise<TransferResult> {
  const legs = [{ ...leg, amount: moneyToProto(usd(leg.amount)) }];
  const upTo = leg.kind === MovementKind.FEE_DEBIT ? { floor: moneyToProto(usd(0n)) } : undefined;
  const rest = { upTo, enqueue: false, comment: "", sendBefore: undefined, releaseLock: false };
  return await platform.client.transfer({ key, lockOwner: "", legs, ...rest }, aCall());
}
