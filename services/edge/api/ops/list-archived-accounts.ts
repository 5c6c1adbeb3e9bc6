import { AccountRole } from "#proto/pamm/platform/v1/movement.ts";
import { integer, model, named, setOf, string } from "../../fields/field.ts";
import { opaquePage } from "../schemas/page.ts";
import { nullableTimeReply, timeReply } from "../../fields/reply-fields.ts";
import { DEFAULT_LIMIT, limit100 } from "../schemas/request-fields.ts";
import { pageRoute } from "../../http/page-route.ts";
import { at, shown } from "../../fields/message.ts";

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

const ROLES: Partial<Record<AccountRole, (typeof roleSet.values)[number]>> = {
  [AccountRole.MASTER]: "master",
  [AccountRole.PAYMENT]: "payment",
  [AccountRole.INVESTOR]: "investor",
};

const ArchivedAccount = model("ArchivedAccount", "An account without money that the trading platform does not show.", {
  mt5_login: at("login", string({ description: "Login on the trading platform.", example: "3000003" })),
  role: named(roleSet.of("What the account is.", "investor"), ROLES),
  state: at(
    "archivedAt",
    shown(stateSet.of("Whether it is archived.", "archived"), (at: Date | undefined) =>
      at ? "archived" : "not_shown",
    ),
  ),
  not_shown_since: at("unshownSince", timeReply("Since when the trading platform does not show it.")),
  archived_at: nullableTimeReply("When that was confirmed; null before."),
});

export const listArchivedAccounts = pageRoute({
  operationId: "listArchivedAccounts",
  method: "GET",
  url: "/api/v1/ops/archived-accounts",
  scope: "ops",
  class: "read",
  tag: "Reconciliation",
  summary: "List archived accounts",
  description:
    "Accounts without money that the trading platform does not show: brokers archive or delete accounts that have not been used for long. No other account is held up by them, and nothing has to be decided. An account with money that is not shown is a break.",
  returns: "A page of accounts.",
  limit: limit100(DEFAULT_LIMIT),
  cursor: "number",
  reply: model("ArchivedAccountPage", "A page of accounts that the trading platform does not show.", {
    ...opaquePage(ArchivedAccount, "Ascending by login."),
    archived: integer({ description: "All accounts that are archived.", example: 12 }),
    not_shown: at(
      "unconfirmed",
      integer({ description: "All accounts that are not shown and not archived yet.", example: 0 }),
    ),
  }),
  refusals: [],

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
