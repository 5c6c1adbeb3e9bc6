import { AccountRole } from "#proto/pamm/platform/v1/movement.ts";
import type { Exchanges } from "../exchange.ts";
import { AT, LATER, LATER_TEXT } from "../samples/values.ts";

export const exchanges: Exchanges = {
  listArchivedAccounts: [
    {
      name: "page",
      summary: "An Investor who has left, and a payment account",
      request: { query: { limit: "2" } },
      services: {
        platform: {
          listUnshownAccounts: async () => ({
            accounts: [
              { login: "3000002", role: AccountRole.PAYMENT, unshownSince: LATER, archivedAt: undefined },
              { login: "3000003", role: AccountRole.INVESTOR, unshownSince: AT, archivedAt: LATER },
            ],
            hasMore: false,
            archived: 1n,
            unconfirmed: 1n,
          }),
        },
      },
      asked: [{ method: "listUnshownAccounts", request: { afterLogin: "", limit: 2 } }],
      answer: {
        items: [
          { mt5_login: "3000002", role: "payment", state: "not_shown", not_shown_since: LATER_TEXT },
          { archived_at: LATER_TEXT },
        ],
        archived: 1,
        not_shown: 1,
      },
    },
  ],
};
