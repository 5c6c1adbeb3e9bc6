import assert from "node:assert/strict";
import { AccountRole } from "#proto/pamm/platform/v1/movement.ts";
import type { UnshownAccount } from "#proto/pamm/platform/v1/platform.ts";
import { integer, model, setOf, string } from "../../fields/field.ts";
import { opaquePage } from "../schemas/page.ts";
import { nullableTimeReply, timeReply } from "../schemas/reply-fields.ts";
import { DEFAULT_LIMIT, limit100 } from "../schemas/request-fields.ts";
import { pageRoute } from "../../http/page-route.ts";
import { shown } from "../../fields/message.ts";
import { nullableTimestamp, timestamp } from "../../wire/timestamp.ts";

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

const ROLES = {
  [AccountRole.MASTER]: "master",
  [AccountRole.PAYMENT]: "payment",
  [AccountRole.INVESTOR]: "investor",
} as const;

const ArchivedAccount = model("ArchivedAccount", "An account without money that the trading platform does not show.", {
  mt5_login: string({ description: "Login on the trading platform.", example: "3000003" }),
  role: roleSet.of("What the account is.", "investor"),
  state: stateSet.of("Whether it is archived.", "archived"),
  not_shown_since: timeReply("Since when the trading platform does not show it."),
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
    ...opaquePage(shown(ArchivedAccount, itemOf), "Ascending by login."),
    archived: integer({ description: "All accounts that are archived.", example: 12 }),
    not_shown: integer({ description: "All accounts that are not shown and not archived yet.", example: 0 }),
  }),
  refusals: [],

  async call({ platform }, { limit }, after, context) {
    const afterLogin = after === 0n ? "" : String(after);
    const { accounts, unconfirmed, ...page } = await platform.listUnshownAccounts({ afterLogin, limit }, context);
    return { items: accounts, notShown: unconfirmed, ...page };
  },

  next({ items, hasMore }) {
    const last = hasMore ? items.at(-1) : undefined;
    return last && BigInt(last.login);
  },
});

function itemOf({ login, role, unshownSince, archivedAt }: UnshownAccount) {
  assert(role !== AccountRole.UNSPECIFIED && unshownSince !== undefined, "an account has a role and a time");
  return {
    mt5_login: login,
    role: ROLES[role],
    state: archivedAt === undefined ? ("not_shown" as const) : ("archived" as const),
    not_shown_since: timestamp(unshownSince),
    archived_at: nullableTimestamp(archivedAt),
  };
}
