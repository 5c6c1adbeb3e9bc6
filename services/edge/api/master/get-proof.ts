import { Type } from "typebox";
import { bool, integer, list, model } from "../../fields/field.ts";
import { at } from "../../fields/message.ts";
import { masterLoginReply, moneyReply, nullableTimeReply, timeReply } from "../../fields/reply-fields.ts";
import { limit500, masterLogin, wait } from "../schemas/request-fields.ts";
import { nextPage } from "../schemas/page.ts";
import { MarketWaitItem, ProofItem, SumItem } from "../schemas/proof.ts";
import { pageRoute } from "../../http/page-route.ts";

/** The maximum of a page, so that a report has as few pages as possible. */
const DEFAULT_LIMIT = 500;

export const getProof = pageRoute({
  operationId: "getProof",
  method: "GET",
  url: "/api/v1/info/master/:master_login/proof",
  scope: "subscriptions:read",
  class: "read",
  tag: "Reconciliation",
  summary: "Get a Master's reconciliation report",
  description:
    "Platform balance and expected balance of the Master and of each Investor in its pool. Money on the Master that belongs to no Investor shares in results: it is `quarantined` until two operators acknowledge it, then `own_capital`. Investors are paginated; sums and `converged` cover all of them on every page.",
  returns: "The report, with one page of Investors.",
  params: Type.Object({ master_login: masterLogin }),
  limit: limit500(DEFAULT_LIMIT),
  options: { wait: Type.Optional(wait("`converged` is true")) },
  cursor: "number",
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
