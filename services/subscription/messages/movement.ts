import { moneyFromProto } from "#kernel/contract/money.ts";
import { type AccountMoved, AccountRole, MovementKind as KindMessage } from "#proto/pamm/platform/v1/movement.ts";
import type { LoggedMovement } from "../domain/books.ts";
import type { MovementKind } from "../domain/classify-movement.ts";
import type { Deps } from "../deps.ts";
import { isAgentCommission, type MasterDeal } from "../domain/master-deal.ts";

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

/** Throws on a movement of an unknown kind, because a wrong kind would book money in a wrong bucket, and on a trade without its details. */
export function movementOf(
  moved: AccountMoved,
  { adoptsCharge, agentCommission }: Pick<Deps, "adoptsCharge" | "agentCommission">,
): LoggedMovement {
  const { login, number, key, dealId, dealAt, reason, dealAction: action, dealComment: comment, transferId } = moved;
  const role = moved.role === AccountRole.MASTER ? "master" : "investor";
  const kind = kindOf(moved, role, agentCommission);
  if (kind === undefined) throw new Error(`Entry ${number} of login ${login} has the unknown kind ${moved.kind}.`);
  return {
    login,
    role,
    number,
    kind,
    key,
    amount: moneyFromProto(moved.amount).minor,
    dealId,
    reason,
    action,
    comment,
    dealAt,
    day: dealAt?.toISOString().slice(0, DAY_LENGTH) ?? "",
    isAdopted: (kind === "external" || kind === "trade") && adoptsCharge({ action, comment }),
    transferId,
    trade: role === "master" && moved.kind === KindMessage.TRADE ? resultOf(moved) : undefined,
  };
}

/** An agent's commission on a Master is its own capital, or a result of the pool. */
function kindOf(
  { kind, key, trade }: AccountMoved,
  role: LoggedMovement["role"],
  agentCommission: Deps["agentCommission"],
): MovementKind | undefined {
  const isAgents = role === "master" && trade !== undefined && isAgentCommission(trade);
  if (isAgents && agentCommission === "own_capital") return "agent_commission";
  return kind === KindMessage.REVERSAL && REVIEW_REVERSAL.test(key) ? "review_reversal" : KIND[kind];
}

function resultOf({ login, number, dealId, dealAt, amount, trade }: AccountMoved): MasterDeal {
  if (trade === undefined || dealAt === undefined) {
    throw new Error(`Trade entry ${number} of login ${login} has no deal time or no trade details.`);
  }
  return {
    masterLogin: login,
    number,
    dealId,
    dealAt,
    amount: moneyFromProto(amount).minor,
    action: trade.action,
    entry: trade.entry,
    positionId: trade.positionId,
    volume: trade.volume,
    volumeClosed: trade.volumeClosed,
    profit: moneyFromProto(trade.profit).minor,
    swap: moneyFromProto(trade.swap).minor,
  };
}
