import { AccountRole } from "#proto/pamm/platform/v1/movement.ts";
import { byCode, integer, model, named, setOf, string } from "../../fields/field.ts";
import { at, shown } from "../../fields/message.ts";
import { opaquePage } from "../../fields/page.ts";
import { nullableTimeReply, timeReply } from "../../fields/reply-fields.ts";
import { pageRoute } from "../../http/page-route.ts";

const stateSet = setOf("ArchivedAccountState", "Whether the account is archived.", {
  not_shown:
    "The trading platform does not show the account, which has no money. It is archived when that has lasted for a while and is confirmed, or is normal again.",
  archived:
    "The broker has archived or deleted the account. Nothing is sent on it; it ends when the trading platform shows it again, which is looked for every five minutes.",
});

const roleSet = setOf("ArchivedAccountRole", "What the account is.", {
  master: "The trading account of a Master.",
  payment:
    "The payment account of a Master: fees that are due wait until it is shown again, or the Master has another one.",
  investor: "The account of an Investor.",
});

const ArchivedAccount = model("ArchivedAccount", "An account without money that the trading platform does not show.", {
  mt5_login: at("login", string({ description: "Login on the trading platform.", example: "3000003" })),
  role: named(roleSet.of("What the account is.", "investor"), byCode(roleSet.values, AccountRole)),
  state: at(
    "archivedAt",
    shown(stateSet.of("Whether it is archived.", "archived"), (at: Date | undefined) =>
      at ? "archived" : "not_shown",
    ),
  ),
  not_shown_since: at("unshownSince", timeReply("Since when the trading platform does not show it.")),
  archived_at: nullableTimeReply("When that was confirmed; null before."),
});

export const listArchivedAccounts = pageRoute("GET /api/v1/ops/archived-accounts", {
  scope: "ops",
  summary: "List archived accounts",
  description:
    "Accounts without money that the trading platform does not show: brokers archive or delete accounts that have not been used for long. No other account is held up by them, and nothing has to be decided. An account with money that is not shown is a break.",
  returns: "A page of accounts.",
  reply: model("ArchivedAccountPage", "A page of accounts that the trading platform does not show.", {
    ...opaquePage(ArchivedAccount, "Ascending by login."),
    archived: integer({ description: "All accounts that are archived.", example: 12 }),
    not_shown: at(
      "unconfirmed",
      integer({ description: "All accounts that are not shown and not archived yet.", example: 0 }),
    ),
  }),

  async call({ platform }, { limit }, after, context) {
    const afterLogin = after === 0n ? "" : String(after);
    const { accounts: items, ...page } = await platform.listUnshownAccounts({ afterLogin, limit }, context);
    return { items, ...page };
  },

  next({ items, hasMore }) {
    const last = hasMore ? items.at(-1) : undefined;
    return last && BigInt(last.login);
  },
});
