import { Type } from "typebox";
import { bool, integer, model, nullableString } from "../../fields/field.ts";
import { masterLoginReply, moneyReply, nullableTimeReply, timeReply } from "../schemas/reply-fields.ts";
import { limit500, masterLogin, opaqueCursor, wait } from "../schemas/request-fields.ts";
import { pageAt } from "../schemas/page.ts";
import { MarketWaitItem, marketWaitItem, ProofItem, proofItem, SumItem, sumItem } from "../schemas/proof.ts";
import { type Deps, route } from "../../http/route.ts";
import { moneyNumber } from "../../wire/money.ts";
import { nullableTimestamp, timestamp } from "../../wire/timestamp.ts";

/** The maximum of a page, so that a report has as few pages as possible. */
const DEFAULT_LIMIT = 500;

export const getProof = route({
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
  query: Type.Object({
    limit: limit500(DEFAULT_LIMIT),
    cursor: Type.Optional(opaqueCursor),
    wait: Type.Optional(wait("`converged` is true")),
  }),
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
    fees_closed_through: nullableTimeReply(
      "End of the last fee week of the Master that is closed; null while no Investor is active.",
    ),
    waits: Type.Array(MarketWaitItem, {
      description:
        "Money that waits for free margin, for a price, for the account of the Master or its payment account, or for the end of a deficit; until it has moved, `converged` is false. Empty without any.",
    }),
    lag_ms: integer({ description: "Milliseconds from the Master's last booked deal to its last deal.", example: 0 }),
    total: SumItem,
    master: ProofItem,
    investors: Type.Array(ProofItem, {
      description: "Investors with money in the pool, ascending by subscription id.",
    }),
    investors_count: integer({ description: "Number of Investors that the sums cover.", example: 2 }),
    next_cursor: nullableString({ description: "Cursor of the next page; null on the last one.", example: null }),
    has_more: bool({ description: "Whether another page follows.", example: false }),
  }),
  refusals: ["master_not_found", "platform_unavailable"],
  check: ({ params, query }, deps) => pageOf(params.master_login, query.cursor, deps).errors,

  async handle(deps, { params, query }, { poll }) {
    const page = pageOf(params.master_login, query.cursor, deps);
    const request = {
      masterLogin: params.master_login,
      afterSubscriptionId: page.after ?? 0n,
      limit: Number(query.limit ?? DEFAULT_LIMIT),
    };
    const proof = await poll.until(
      (context) => deps.subscriptions.getProof(request, context),
      ({ converged }) => converged,
    );
    return {
      master_login: proof.masterLogin,
      read_at: timestamp(proof.readAt),
      converged: proof.converged,
      unredeemed: moneyNumber(proof.unredeemed),
      fees_closed_through: nullableTimestamp(proof.weeksClosedThrough),
      waits: proof.waits.map(marketWaitItem),
      lag_ms: proof.lagMs,
      total: sumItem(proof.total),
      master: proofItem(proof.master),
      investors: proof.investors.map(proofItem),
      investors_count: proof.investorsCount,
      ...page.next(proof.hasMore ? proof.investors.at(-1)?.subscriptionId : undefined),
    };
  },
});

function pageOf(login: string, cursor: string | undefined, { cursors }: Deps) {
  return pageAt(cursors.number, `proof?master=${login}`, cursor);
}
