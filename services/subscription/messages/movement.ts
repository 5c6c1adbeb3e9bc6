import { moneyFromProto } from "#kernel/contract/money.ts";
import { type AccountMoved, MovementKind as KindMessage } from "#proto/pamm/platform/v1/movement.ts";
import type { LoggedMovement } from "../domain/books.ts";
import type { MovementKind } from "../domain/classify-movement.ts";
import type { MasterDeal } from "../domain/master-deal.ts";

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

const BY_REVIEW = /^review:\d+:reverse$/;

/** Throws when the message does not say what happened: that must never be guessed. */
export function movementOf({ login, number, kind, key, amount, dealId, reason }: AccountMoved): LoggedMovement {
  const known = kind === KindMessage.REVERSAL && BY_REVIEW.test(key) ? "taken_back" : KIND[kind];
  if (known === undefined) throw new Error(`entry ${number} of ${login} has an unknown kind ${kind}`);
  return { login, number, kind: known, key, amount: moneyFromProto(amount).minor, dealId, reason };
}

export function resultOf({ login, number, entryId, dealId, dealAt, amount, trade }: AccountMoved): MasterDeal {
  if (trade === undefined || dealAt === undefined) throw new Error(`trade ${number} of ${login} lacks its details`);
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
