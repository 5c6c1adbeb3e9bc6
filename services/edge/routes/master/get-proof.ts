import { Type } from "typebox";
import { bool, integer, nullableString } from "../../schemas/field.ts";
import { loginReply, timeReply } from "../../schemas/reply-fields.ts";
import { limit500, masterLogin, opaqueCursor, wait } from "../../schemas/request-fields.ts";
import { cursorErrors, readCursor } from "../../schemas/page.ts";
import { ProofItem, proofItem, SumItem, sumItem } from "../../schemas/proof.ts";
import { route } from "../../route.ts";
import { timestamp } from "../../wire/timestamp.ts";

const DEFAULT_LIMIT = 500;

export const getProof = route({
  method: "GET",
  url: "/api/v1/info/master/:master_login/proof",
  scope: "subscriptions:read",
  class: "read",
  tag: "Reconciliation",
  summary: "Prove that everything of a Master ties",
  description:
    "What the platform shows of the Master and of everybody in its pool, beside what the books say. Investors come page by page; sums and `converged` are over all of them, whichever page it is.",
  params: Type.Object({ master_login: masterLogin }),
  query: Type.Object({
    limit: Type.Optional(limit500(DEFAULT_LIMIT)),
    cursor: Type.Optional(opaqueCursor),
    wait: Type.Optional(wait("it has converged")),
  }),
  reply: Type.Object({
    master_login: loginReply("The Master."),
    read_at: timeReply("When the platform was asked."),
    converged: bool({
      description: "Nothing is in flight or quarantined, nothing is left to be filed, and every difference is 0.",
      example: true,
    }),
    lag_ms: integer({ description: "From the Master's last deal that is filed to its last deal.", example: 0 }),
    total: SumItem,
    master: ProofItem,
    investors: Type.Array(ProofItem, { description: "Everybody whose money is in the pool, by subscription." }),
    investors_count: integer({ description: "How many the sums are over.", example: 2 }),
    next_cursor: nullableString({ description: "Cursor of the next page; null on the last one.", example: null }),
    has_more: bool({ description: "Whether another page follows.", example: false }),
  }),
  refusals: ["master_not_found", "platform_unavailable"],
  check: ({ params, query }, deps) => cursorErrors(readCursor(deps, listOf(params), query.cursor)),

  async handle(deps, { params, query }, { waiting }) {
    const list = listOf(params);
    const request = {
      masterLogin: params.master_login,
      afterSubscriptionId: readCursor(deps, list, query.cursor) ?? 0n,
      limit: Number(query.limit ?? DEFAULT_LIMIT),
    };
    const proof = await waiting.until(
      (context) => deps.subscriptions.getProof(request, context),
      ({ converged }) => converged,
    );
    const last = proof.hasMore ? proof.investors.at(-1) : undefined;
    return {
      master_login: proof.masterLogin,
      read_at: timestamp(proof.readAt),
      converged: proof.converged,
      lag_ms: proof.lagMs,
      total: sumItem(proof.total),
      master: proofItem(proof.master),
      investors: proof.investors.map(proofItem),
      investors_count: proof.investorsCount,
      next_cursor: last === undefined ? null : deps.cursors.write(list, last.subscriptionId),
      has_more: proof.hasMore,
    };
  },
});

/** A cursor of one Master means nothing at another. */
function listOf({ master_login: login }: { readonly master_login: string }): string {
  return `proof?master=${login}`;
}
