import { MarketWaitReason } from "#proto/pamm/subscription/v1/subscription.ts";
import { bool, byCode, integer, list, model, named, nullableId, setOf, string } from "../../fields/field.ts";
import { at, optional } from "../../fields/message.ts";
import { limit500, nextPage } from "../../fields/page.ts";
import { masterLoginReply, moneyReply, nullableTimeReply, timeReply } from "../../fields/reply-fields.ts";
import { pageRoute } from "../../http/page-route.ts";
import { masterLogin, wait } from "../schemas/request-fields.ts";

const amounts = {
  platform_balance: moneyReply("Balance on the trading platform.", 1020),
  ledger_balance: moneyReply("Expected balance.", 1020),
  in_flight: moneyReply("Decided but not yet executed on the account; signed.", 0),
  quarantined: moneyReply("External funds and own capital of the Master that await a decision; signed.", 0),
  own_capital: moneyReply("Own capital of the Master that operators have acknowledged: it shares in results.", 0),
  difference: moneyReply("Platform balance less expected balance: the unexplained amount.", 0),
};

const SumItem = model("ProofSums", "The sums of all accounts of a report.", amounts);

const ProofItem = model("AccountProof", "One account of a report.", {
  mt5_login: at("login", string({ description: "Login of the account.", example: "3000003" })),
  ...amounts,
  last_deal_id: nullableId({
    description: "Ticket of the last booked deal; null before the first.",
    example: 1_234_567,
  }),
});

const marketWaitReason = setOf("MarketWaitReason", "What money of a Master waits for.", {
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

const MarketWaitItem = model(
  "MarketWait",
  "Money of a Master that waits for the market, for its account or its payment account, or for the end of a deficit; nothing else waits for it.",
  {
    reason: named(
      marketWaitReason.of("What it waits for.", "free_margin"),
      byCode(marketWaitReason.values, MarketWaitReason),
    ),
    amount: moneyReply("How much waits.", 390),
    since: timeReply("Since when."),
    message: string({
      description: "A sentence: what waits, and what ends it.",
      example: "390.00 USD of fees is above the free margin of Master 3000001.",
    }),
  },
);

/** The maximum of a page, so that a report has as few pages as possible. */
const DEFAULT_LIMIT = 500;

export const getProof = pageRoute("GET /api/v1/info/master/:master_login/proof", {
  scope: "subscriptions:read",
  summary: "Get a Master's reconciliation report",
  description:
    "Platform balance and expected balance of the Master and of each Investor in its pool. Money on the Master that belongs to no Investor shares in results: it is `quarantined` until two operators acknowledge it, then `own_capital`. Investors are paginated; sums and `converged` cover all of them on every page.",
  returns: "The report, with one page of Investors.",
  params: { master_login: masterLogin },
  limit: limit500(DEFAULT_LIMIT),
  options: { wait: optional(wait("`converged` is true")) },
  reply: model("Proof", "The reconciliation report of a Master.", {
    master_login: masterLoginReply(),
    read_at: timeReply("When the balances were read."),
    converged: bool({
      description:
        "Nothing is in flight or quarantined, every deal is booked, every difference is 0, and `unredeemed` is 0.",
      example: true,
    }),
    unredeemed: moneyReply(
      "Fees and other money that have left the pool and still have a share in results: their units are redeemed as soon as the open positions can be valued.",
      0,
    ),
    fees_closed_through: at(
      "weeksClosedThrough",
      nullableTimeReply("End of the last fee week of the Master that is closed; null while no Investor is active."),
    ),
    waits: list(MarketWaitItem, {
      description:
        "Money that waits for free margin, for a price, for the account of the Master or its payment account, or for the end of a deficit; until it has moved, `converged` is false. Empty without any.",
    }),
    lag_ms: integer({ description: "Milliseconds from the Master's last booked deal to its last deal.", example: 0 }),
    total: SumItem,
    master: ProofItem,
    investors: list(ProofItem, {
      description: "Investors with money in the pool, ascending by subscription id.",
    }),
    investors_count: integer({ description: "Number of Investors that the sums cover.", example: 2 }),
    ...nextPage,
  }),
  refusals: ["master_not_found", "platform_unavailable"],
  call: ({ subscriptions }, { masterLogin, limit }, afterSubscriptionId, { poll }) =>
    poll.until(
      (context) => subscriptions.getProof({ masterLogin, afterSubscriptionId, limit }, context),
      ({ converged }) => converged,
    ),
  next: ({ investors, hasMore }) => (hasMore ? investors.at(-1)?.subscriptionId : undefined),
});
