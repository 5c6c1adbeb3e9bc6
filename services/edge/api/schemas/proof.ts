import assert from "node:assert/strict";
import type { Static } from "typebox";
import { type AccountProof, type MarketWait, MarketWaitReason } from "#proto/pamm/subscription/v1/subscription.ts";
import { jsonInteger } from "../../wire/json-number.ts";
import { moneyNumber } from "../../wire/money.ts";
import { timestamp } from "../../wire/timestamp.ts";
import { model, nullableInteger, setOf, string } from "../../fields/field.ts";
import { moneyReply, timeReply } from "./reply-fields.ts";

const amounts = {
  platform_balance: moneyReply("Balance on the trading platform.", 1020),
  ledger_balance: moneyReply("Expected balance.", 1020),
  in_flight: moneyReply("Decided but not yet executed on the account; signed.", 0),
  quarantined: moneyReply("External funds and own capital of the Master that await a decision; signed.", 0),
  own_capital: moneyReply("Own capital of the Master that operators have acknowledged: it shares in results.", 0),
  difference: moneyReply("Platform balance less expected balance: the unexplained amount.", 0),
};

export const SumItem = model("ProofSums", "The sums of all accounts of a report.", amounts);

export const ProofItem = model("AccountProof", "One account of a report.", {
  mt5_login: string({ description: "Login of the account.", example: "3000003" }),
  ...amounts,
  last_deal_id: nullableInteger({
    description: "Ticket of the last booked deal; null before the first.",
    example: 1_234_567,
  }),
});

export const marketWaitReason = setOf("MarketWaitReason", "What money of a Master waits for.", {
  free_margin:
    "It is to leave the Master, and is above the free margin of its open positions. It is taken after a deal that frees margin, or when the Master is flat.",
  old_price:
    "It joins or leaves the pool, and the last price of an open position is from before the present session. It gets or returns units at the next price, or when the Master is flat.",
  master_not_shown:
    "It joins the pool, and the trading platform does not show the account of the Master, which has no money: the broker has archived or deleted it. It is on the accounts of its Investors until the account is shown again.",
  pool_deficit:
    "It is to join the pool, and the Master has lost more than its capital, or the share of its Investor is below 0.00. It stays on the accounts of the Investors, who can withdraw it, until a compensation of the broker or a result has covered that.",
  payment_account_archived:
    "It is fees, and the trading platform does not show the payment account, which the broker has archived or deleted. It stays on the accounts of the Investors until that account is shown again, or `payment_account_login` of the Master is another one.",
});

export const MarketWaitItem = model(
  "MarketWait",
  "Money of a Master that waits for the market, for its account or its payment account, or for the end of a deficit; nothing else waits for it.",
  {
    reason: marketWaitReason.of("What it waits for.", "free_margin"),
    amount: moneyReply("How much waits.", 390),
    since: timeReply("Since when."),
    message: string({
      description: "A sentence: what waits, and what ends it.",
      example: "390.00 USD of fees is above the free margin of Master 3000001.",
    }),
  },
);

const REASON_OF: Readonly<Record<MarketWaitReason, keyof typeof marketWaitReason.meanings | undefined>> = {
  [MarketWaitReason.UNSPECIFIED]: undefined,
  [MarketWaitReason.FREE_MARGIN]: "free_margin",
  [MarketWaitReason.OLD_PRICE]: "old_price",
  [MarketWaitReason.MASTER_NOT_SHOWN]: "master_not_shown",
  [MarketWaitReason.POOL_DEFICIT]: "pool_deficit",
  [MarketWaitReason.PAYMENT_ACCOUNT_ARCHIVED]: "payment_account_archived",
};

export function marketWaitItem({ reason, amount, since, message }: MarketWait): Static<typeof MarketWaitItem> {
  const named = REASON_OF[reason];
  assert(named !== undefined, "a wait has no reason");
  return { reason: named, amount: moneyNumber(amount), since: timestamp(since), message };
}

export function sumItem(proof: AccountProof | undefined): Static<typeof SumItem> {
  assert(proof !== undefined, "a sum is missing in the answer");
  return {
    platform_balance: moneyNumber(proof.platformBalance),
    ledger_balance: moneyNumber(proof.ledgerBalance),
    in_flight: moneyNumber(proof.inFlight),
    quarantined: moneyNumber(proof.quarantined),
    own_capital: moneyNumber(proof.ownCapital),
    difference: moneyNumber(proof.difference),
  };
}

export function proofItem(proof: AccountProof | undefined): Static<typeof ProofItem> {
  assert(proof !== undefined, "an account is missing in the answer");
  const { login, lastDealId } = proof;
  return { mt5_login: login, ...sumItem(proof), last_deal_id: lastDealId === 0n ? null : jsonInteger(lastDealId) };
}
