import { MarketWaitReason } from "#proto/pamm/subscription/v1/subscription.ts";
import { model, named, nullableId, setOf, string } from "../../fields/field.ts";
import { at } from "../../fields/message.ts";
import { moneyReply, timeReply } from "../../fields/reply-fields.ts";

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
  mt5_login: at("login", string({ description: "Login of the account.", example: "3000003" })),
  ...amounts,
  last_deal_id: nullableId({
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

const REASONS: Partial<Record<MarketWaitReason, (typeof marketWaitReason.values)[number]>> = {
  [MarketWaitReason.FREE_MARGIN]: "free_margin",
  [MarketWaitReason.OLD_PRICE]: "old_price",
  [MarketWaitReason.MASTER_NOT_SHOWN]: "master_not_shown",
  [MarketWaitReason.POOL_DEFICIT]: "pool_deficit",
  [MarketWaitReason.PAYMENT_ACCOUNT_ARCHIVED]: "payment_account_archived",
};

export const MarketWaitItem = model(
  "MarketWait",
  "Money of a Master that waits for the market, for its account or its payment account, or for the end of a deficit; nothing else waits for it.",
  {
    reason: named(marketWaitReason.of("What it waits for.", "free_margin"), REASONS),
    amount: moneyReply("How much waits.", 390),
    since: timeReply("Since when."),
    message: string({
      description: "A sentence: what waits, and what ends it.",
      example: "390.00 USD of fees is above the free margin of Master 3000001.",
    }),
  },
);
