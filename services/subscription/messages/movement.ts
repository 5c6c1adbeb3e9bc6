import { moneyFromProto } from "#kernel/contract/money.ts";
import { type AccountMoved, AccountRole, MovementKind as KindMessage } from "#proto/pamm/platform/v1/movement.ts";
import type { LoggedMovement } from "../domain/books.ts";
import type { MovementKind } from "../domain/classify-movement.ts";
import type { Deps } from "../deps.ts";
import { isAgentCommission, type MasterDeal } from "../domain/master-deal.ts";
import { adoptsNothing } from "../domain/quarantine.ts";

const KIND: Readonly<Record<KindMessage, MovementKind | undefined>> = {
  [KindMessage.UNSPECIFIED]: undefined,
  [KindMessage.OPENING]: "opening",
  [KindMessage.DEPOSIT]: "deposit",
  [KindMessage.WITHDRAWAL]: "withdrawal",
  [KindMessage.FEE_DEBIT]: "fee_debit",
  [KindMessage.FEE_CREDIT]: "fee_credit",
  [KindMessage.RESULT]: "result",
  [KindMessage.MIRROR]: "mirror",
  [KindMessage.EXIT]: "exit",
  [KindMessage.REVERSAL]: "reversal",
  [KindMessage.EXTERNAL]: "external",
  [KindMessage.TRADE]: "trade",
  [KindMessage.AMENDMENT]: "amendment",
  [KindMessage.CORRECTION]: "correction",
};

/** 2026-01-31 */
const DAY_LENGTH = 10;

/** Keys of reversals that were approved in a review. */
const REVIEW_REVERSAL = /^review:\d+:reverse$/;

/** As `movementOf`, by the rules for deals of the broker: an agent's commission on a Master is its own capital, or a result of the pool. */
export function filedMovementOf(
  moved: AccountMoved,
  { adoptsCharge, agentCommission }: Pick<Deps, "adoptsCharge" | "agentCommission">,
): LoggedMovement {
  const movement = movementOf(moved, adoptsCharge);
  const isAgents = moved.role === AccountRole.MASTER && moved.trade !== undefined && isAgentCommission(moved.trade);
  return isAgents && agentCommission === "own_capital" ? { ...movement, kind: "agent_commission" } : movement;
}

/** Throws on a movement of an unknown kind, because a wrong kind would book money in a wrong bucket. */
export function movementOf(moved: AccountMoved, adopts = adoptsNothing): LoggedMovement {
  const { login, number, kind, key, amount, dealId, reason, dealAction: action, dealComment: comment, dealAt } = moved;
  const knownKind = kind === KindMessage.REVERSAL && REVIEW_REVERSAL.test(key) ? "review_reversal" : KIND[kind];
  if (knownKind === undefined) throw new Error(`Entry ${number} of login ${login} has the unknown kind ${kind}.`);
  const day = dealAt?.toISOString().slice(0, DAY_LENGTH) ?? "";
  const isAdopted = (knownKind === "external" || knownKind === "trade") && adopts({ action, comment });
  const what = { action, comment, day, isAdopted };
  return { login, number, kind: knownKind, key, amount: moneyFromProto(amount).minor, dealId, reason, ...what };
}

export function resultOf({ login, number, entryId, dealId, dealAt, amount, trade }: AccountMoved): MasterDeal {
  if (trade === undefined || dealAt === undefined) {
    throw new Error(`Trade entry ${number} of login ${login} has no deal time or no trade details.`);
  }
  return {
    masterLogin: login,
    number,
    entryId,
    dealId,
    dealAt,
    amount: moneyFromProto(amount).minor,
    action: trade.action,
    entry: trade.entry,
    positionId: trade.positionId,
    symbol: trade.symbol,
    volume: trade.volume,
    volumeClosed: trade.volumeClosed,
    profit: moneyFromProto(trade.profit).minor,
    swap: moneyFromProto(trade.swap).minor,
    commission: moneyFromProto(trade.commission).minor,
    fee: moneyFromProto(trade.fee).minor,
  };
}
