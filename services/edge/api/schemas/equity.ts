import assert from "node:assert/strict";
import { Type, type Static } from "typebox";
import { moneyFromProto } from "#kernel/contract/money.ts";
import type { Error as RefusalMessage } from "#proto/pamm/common/v1/error.ts";
import type { PreviewWithdrawResponse } from "#proto/pamm/funding/v1/funding.ts";
import type { GetEquityResponse, HoldingValue } from "#proto/pamm/subscription/v1/subscription.ts";
import { isProblemCode } from "../../problems/problems.ts";
import { jsonInteger } from "../../wire/json-number.ts";
import { moneyNumber } from "../../wire/money.ts";
import { scaledNumber } from "../../wire/scaled.ts";
import { nullableTimestamp, timestamp } from "../../wire/timestamp.ts";
import { currencyReply } from "../../fields/currency.ts";
import { bool, decimal, integer, model, modelOrNull, nullableDecimal, nullableInteger } from "../../fields/field.ts";
import { problemCode } from "./problem-sets.ts";
import {
  idReply,
  investorLoginReply,
  masterLoginReply,
  moneyReply,
  nullableTimeReply,
  timeReply,
} from "./reply-fields.ts";

const E8_SCALE = 8;
const CENT_SCALE = 2;
const E8_PER_CENT = 1_000_000n;

const ShareReply = model("PoolShare", "The share of an Investor in the pool of its Master.", {
  master_login: masterLoginReply(),
  subscription_id: idReply("Id of the subscription.", 4),
  pooled: moneyReply("Money that works in the pool.", 1000),
  joining: moneyReply("Money on its way to the Master, or there and without units yet: it shares in no result.", 0),
  units: decimal({ description: "Units of the Investor.", example: 1000 }),
  pool_units: decimal({
    description: "All units of the pool, those of own capital of the Master included.",
    example: 6000,
  }),
  nav_per_unit: nullableDecimal({
    description: "Value of a unit with the open positions as they are now; null while there are no units.",
    example: 1.45,
  }),
  open_positions: integer({ description: "Open positions of the Master.", example: 1 }),
  as_of_deal_id: nullableInteger({
    description: "Ticket of the last deal of the Master whose result is allocated; null before the first.",
    example: 1_234_567,
  }),
  as_of_deal_at: nullableTimeReply("Time of that deal; null before the first."),
});

export const EquityReply = model("Equity", "What an Investor owns, and what of it is free.", {
  investor_login: investorLoginReply(),
  as_of: timeReply("When the open positions were read; `pool` names the last deal that the books contain."),
  currency: currencyReply,
  balance: moneyReply("Balance of the account, by its journal.", 1000),
  unposted_result: moneyReply("Allocated results that are not on the account yet; signed.", 0),
  floating_share: moneyReply("Share of the result of the Master's open positions; signed.", 450),
  equity: moneyReply("Balance, results that are not posted, and share of the floating result, before fees.", 1450),
  external_funds: moneyReply(
    "Part of the balance that this service did not book and operators have to decide about; signed.",
    0,
  ),
  pending_fee: moneyReply("Performance fee that would be charged now, debts included; an open loss lowers it.", 0),
  debt: moneyReply("Fees that were charged and could not be collected yet, to all Masters.", 0),
  high_water_mark: decimal({
    description:
      "High-water mark on the sum of the results with this Master, which deposits and withdrawals do not change; 0 outside a pool.",
    example: 0,
  }),
  free_to_withdraw: moneyReply("What a withdrawal would pay out now: 0 while it would be refused.", 0),
  free_when_flat: moneyReply(
    "What a withdrawal would pay out if the Master closed all positions at their present results: at least 0. `free_to_withdraw` when none is open; 0 while a withdrawal would be refused for anything but open positions.",
    1330,
  ),
  withdrawal_blocked_by: Type.Array(problemCode.known("Problem code of a withdrawal.", "master_open_positions"), {
    description: "Why a withdrawal would be refused now, all reasons at once; empty when it would not.",
  }),
  in_pool: bool({ description: "Whether the Investor is in a pool.", example: true }),
  pool: modelOrNull(ShareReply, "Its share of the pool; null outside one."),
});

export type EquityFacts = {
  readonly equity: GetEquityResponse;
  readonly withdrawal: PreviewWithdrawResponse;
};

export function equityReply({ equity, withdrawal }: EquityFacts): Static<typeof EquityReply> {
  const { investorLogin, asOf, balance, unposted, quarantined, holding, pendingFee, debt, markE8 } = equity;
  const floating = roundToCents(holding?.floatingE8 ?? 0n);
  const owned = moneyFromProto(balance).minor + moneyFromProto(unposted).minor + floating;
  return {
    investor_login: investorLogin,
    as_of: timestamp(asOf),
    currency: "USD",
    balance: moneyNumber(balance),
    unposted_result: moneyNumber(unposted),
    floating_share: centsNumber(floating),
    equity: centsNumber(owned),
    external_funds: moneyNumber(quarantined),
    pending_fee: moneyNumber(pendingFee),
    debt: moneyNumber(debt),
    high_water_mark: scaledNumber(markE8, E8_SCALE, E8_SCALE),
    free_to_withdraw: centsNumber(freeOf(withdrawal)),
    free_when_flat: centsNumber(freeWhenFlat(equity, withdrawal, floating)),
    withdrawal_blocked_by: withdrawal.refusals.map(codeOf),
    in_pool: holding !== undefined,
    pool: holding === undefined ? null : shareOf(holding),
  };
}

/** Without figures the account or its fee could not be read, and the withdrawal would be refused for that. */
function freeOf({ refusals, figures }: PreviewWithdrawResponse): bigint {
  if (refusals.length > 0) return 0n;
  assert(figures !== undefined, "a withdrawal that would be executed has figures");
  return moneyFromProto(figures.availableAfterFee).minor;
}

/** As a withdrawal is decided, with what floats realised and with the fee on it. */
function freeWhenFlat(
  { feeWhenFlat, quarantined }: GetEquityResponse,
  withdrawal: PreviewWithdrawResponse,
  floating: bigint,
): bigint {
  const { refusals, figures } = withdrawal;
  if (refusals.length === 0) return freeOf(withdrawal);
  if (figures === undefined || refusals.some(({ code }) => code !== "master_open_positions")) return 0n;
  const before = moneyFromProto(figures.balanceBefore).minor + floating;
  return floorAtZero(before - moneyFromProto(feeWhenFlat).minor - floorAtZero(moneyFromProto(quarantined).minor));
}

function floorAtZero(amount: bigint): bigint {
  return amount > 0n ? amount : 0n;
}

function codeOf({ code }: RefusalMessage): string {
  return isProblemCode(code) ? code : "conflict";
}

function shareOf(holding: HoldingValue): Static<typeof ShareReply> {
  const units = BigInt(holding.poolUnits);
  return {
    master_login: holding.masterLogin,
    subscription_id: holding.subscriptionId,
    pooled: moneyNumber(holding.pooled),
    joining: moneyNumber(holding.joining),
    units: scaledNumber(BigInt(holding.units), E8_SCALE, E8_SCALE),
    pool_units: scaledNumber(units, E8_SCALE, E8_SCALE),
    nav_per_unit:
      units === 0n ? null : scaledNumber((BigInt(holding.poolValueE8) * 10n ** 16n) / units, 2 * E8_SCALE, E8_SCALE),
    open_positions: BigInt(holding.openPositions),
    as_of_deal_id: holding.dealId === undefined ? null : jsonInteger(holding.dealId),
    as_of_deal_at: nullableTimestamp(holding.dealAt),
  };
}

/** To the nearest cent, half up, as everywhere where a share is shown. */
function roundToCents(e8: bigint): bigint {
  const doubled = 2n * e8 + E8_PER_CENT;
  const quotient = doubled / (2n * E8_PER_CENT);
  return doubled < 0n && doubled % (2n * E8_PER_CENT) !== 0n ? quotient - 1n : quotient;
}

function centsNumber(minor: bigint) {
  return scaledNumber(minor, CENT_SCALE, CENT_SCALE);
}
