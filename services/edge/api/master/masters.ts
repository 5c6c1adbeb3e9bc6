import { at, optional } from "../../fields/message.ts";
import { OpaquePage } from "../../fields/page.ts";
import { engineFilter as engine } from "../../fields/reply-fields.ts";
import { pageRoute } from "../../http/page-route.ts";
import { listRoute, route } from "../../http/route.ts";
import { demandScope } from "../../identity/keys/caller.ts";
import { ActiveInvestor } from "../investor/investors.ts";
import { labelChangeFields, labelFields } from "../schemas/labels.ts";
import {
  CreatedMaster,
  MasterDetails,
  MasterItem,
  MasterProfile,
  MasterProfileWithState,
  RevealedMaster,
} from "../schemas/master.ts";
import { NEW_ACCOUNT_REFUSALS, newAccount } from "../schemas/new-account.ts";
import { accountFilter, isPeriod } from "../schemas/period.ts";
import {
  acceptingInvestors,
  aliasField,
  loginField,
  masterId,
  masterLogin,
  minDeposit,
  minDepositNumber,
  strategy,
  strategyName,
} from "../schemas/request-fields.ts";

export const createMaster = route("POST /api/v1/master/create", {
  scope: "masters:write",
  class: "create",
  summary: "Create a Master",
  description: "Creates a trading account and its payment account. The response contains secrets.",
  returns: "The new Master with the passwords of its trading account.",
  body: {
    ...newAccount(aliasField("Alias of the Master.", "Alpha Strategy"), "pamm\\master"),
    min_deposit: minDeposit,
    strategy_name: optional(strategyName),
    strategy: optional(strategy),
    ...labelFields,
  },
  reply: CreatedMaster,
  lookUp:
    "Repeat it with the same Idempotency-Key. Without one, look for its name in GET /api/v1/masters?name= before sending a new one.",
  refusals: [...NEW_ACCOUNT_REFUSALS, "external_id_in_use"],
  call: ({ accounts }, request, context) => accounts.createMaster(request, context),
});

export const registerMaster = route("POST /api/v1/master/add", {
  scope: "masters:write",
  summary: "Register a Master",
  description:
    "Registers two existing accounts of the trading platform: the trading account and the payment account that receives performance fees. The payment account must have no open positions, and may not trade from then on.",
  returns: "The registered Master.",
  body: {
    mt5_login: at("login", masterLogin),
    name: optional(aliasField("Alias of the Master; its login when missing.", "Alpha Strategy")),
    strategy_name: optional(strategyName),
    strategy: optional(strategy),
    payment_account_login: loginField("Login of the account that receives fees; never the trading account.", "payment"),
    min_deposit: minDeposit,
    ...labelFields,
  },
  reply: MasterItem,
  lookUp:
    "Repeat it with the same Idempotency-Key. Without one, look for its login in GET /api/v1/master/directory?engine=PAMM before sending a new one.",
  refusals: [
    "login_already_registered",
    "external_id_in_use",
    "login_in_use",
    "payment_account_in_use",
    "payment_account_has_open_positions",
    "payment_account_equals_master",
    "platform_account_not_found",
    "currency_not_supported",
    "account_busy",
    "platform_rejected",
    "platform_unavailable",
  ],
  call: ({ accounts }, request, context) => accounts.addMaster(request, context),
});

export const getMaster = route("GET /api/v1/master/:master_id", {
  scope: "masters:read",
  summary: "Get a Master",
  description: "By internal id, not by login.",
  returns: "The Master.",
  params: { master_id: at("id", masterId) },
  reply: MasterDetails,
  refusals: ["master_not_found"],
  call: ({ accounts }, request, context) => accounts.getMaster(request, context),
});

export const getMasterProfile = route("GET /api/v1/master/:master_id/profile", {
  scope: "masters:read",
  summary: "Get a Master with your labels",
  description:
    "By internal id, with e-mail address, `external_id`, `metadata`, and where the Master is in its life. `GET /masters?mt5_login=` finds the id of a login.",
  returns: "The Master.",
  params: { master_id: at("id", masterId) },
  reply: MasterProfileWithState,
  refusals: ["master_not_found"],

  async call({ accounts }, request, context) {
    const [profile, status] = await Promise.all([
      accounts.getMasterProfile(request, context),
      accounts.getMasterStatus(request, context),
    ]);
    return { profile, status };
  },
});

export const updateMaster = route("PATCH /api/v1/master/:master_id", {
  scope: "masters:write",
  summary: "Update a Master",
  description:
    "At least one field is required; omitted fields keep their value, and members of `metadata` are merged. A new minimum deposit applies to later assignments only. `accepting_investors: false` refuses assignments; Investors who are assigned stay, top up and leave as before. `payment_account_login` is where later fees are paid: an account without open positions, which may not trade from then on; the key needs the scope `fees:write`, too.",
  returns: "The Master after the change.",
  params: { master_id: at("id", masterId) },
  body: {
    name: optional(aliasField("Alias of the Master.", "Alpha Strategy")),
    strategy_name: optional(strategyName),
    strategy: optional(strategy),
    min_deposit: optional(minDepositNumber),
    accepting_investors: optional(acceptingInvestors),
    payment_account_login: optional(loginField("Login of the account that receives later fees.", "payment")),
    ...labelChangeFields,
  },
  reply: MasterItem,
  lookUp:
    "Repeat it with the same Idempotency-Key. Without one, look for the new values in GET /api/v1/master/{master_id}/profile before sending a new one.",
  refusals: [
    "master_not_found",
    "master_closed",
    "payment_account_equals_master",
    "platform_account_not_found",
    "currency_not_supported",
    "payment_account_in_use",
    "payment_account_has_open_positions",
    "login_in_use",
    "external_id_in_use",
    "fees_in_progress",
    "account_busy",
    "safety_stop",
    "platform_rejected",
    "platform_unavailable",
  ],

  async call({ accounts }, request, context) {
    // A key that may change Masters, and no fees, must not redirect fees.
    if (request.paymentAccountLogin !== undefined) demandScope(context.key, ["fees:write"]);
    return await accounts.updateMaster(request, context);
  },
});

export const closeMaster = route("POST /api/v1/master/:master_id/close", {
  scope: "masters:close",
  summary: "Close a Master",
  description:
    "For good: no Investor can be assigned from now on, every Investor leaves as by an unassign, and then the Master is archived. The answer comes when this has begun; `GET /master/{master_id}/profile` shows how far it is. Closing again has the same answer. By internal id, not by login.",
  returns: "The Master as the closing has begun.",
  params: { master_id: at("id", masterId) },
  reply: MasterItem,
  lookUp:
    "Read GET /api/v1/master/{master_id}/profile, or repeat it with the same Idempotency-Key or without one: a Master is closed once.",
  refusals: ["master_not_found", "master_open_positions", "safety_stop", "platform_unavailable"],
  call: ({ accounts }, request, context) => accounts.closeMaster(request, context),
});

export const listMasters = pageRoute("GET /api/v1/master/directory", {
  scope: "masters:read",
  summary: "List Masters",
  description:
    "All Masters, ascending by id, page by page. A page may have fewer items than `limit`, when their metadata is long.",
  returns: "A page of Masters.",
  filter: { engine },
  reply: OpaquePage("MasterPage", MasterItem),

  async call({ accounts }, { limit }, afterId, context) {
    const { items, hasMore } = await accounts.listMasters({ afterId, limit }, context);
    return { items: items.map(({ master }) => master), hasMore };
  },
  next: ({ items, hasMore }) => (hasMore ? items.at(-1)?.id : undefined),
});

export const listMasterProfiles = pageRoute("GET /api/v1/masters", {
  scope: "masters:read",
  summary: "Search Masters",
  description:
    "Masters with your labels, page by page. Filters are combined. A page may have fewer items than `limit`, when their metadata is long.",
  returns: "A page of Masters.",
  filter: accountFilter,
  reply: OpaquePage("MasterProfilePage", MasterProfile),
  check: isPeriod("created_from", "created_to"),

  call: ({ accounts }, { limit, ...filter }, afterId, context) =>
    accounts.listMasters({ filter, afterId, limit }, context),
  next: ({ items, hasMore }) => (hasMore ? items.at(-1)?.master?.id : undefined),
});

/** Names are long; a page of these always fits into one message of the broker. */
const PAGE_SIZE = 500;

export const listMasterInvestors = listRoute("GET /api/v1/info/master/:master_login/investors", {
  scope: "masters:read",
  summary: "List the active Investors of a Master",
  description: "Investors whose subscription is ACTIVE, in the pool and not ended, ascending by id.",
  returns: "All active Investors of the Master.",
  params: { master_login: masterLogin },
  item: ActiveInvestor,
  refusals: ["master_not_found"],

  async *pages({ subscriptions }, { params }, contextOfPage) {
    for (let afterInvestorId = 0n; ;) {
      const page = await subscriptions.listActiveInvestors(
        { masterLogin: params.master_login, afterInvestorId, limit: PAGE_SIZE },
        contextOfPage(),
      );
      const items = page.items.map(ActiveInvestor.of);
      const last = page.hasMore ? page.items.at(-1) : undefined;
      if (last === undefined) return items;
      yield items;
      afterInvestorId = last.id;
    }
  },
});

export const getMasterWithPasswords = route("GET /api/v1/info/master/:master_login", {
  scope: "secrets:read",
  summary: "Get a Master with its passwords",
  description: "For authorised back ends only. Every call is audited. Do not log the response body.",
  returns: "The Master with the passwords of its trading account.",
  params: { master_login: at("login", masterLogin) },
  reply: RevealedMaster,
  refusals: ["master_not_found"],
  revealsSecrets: true,
  call: ({ accounts }, request, context) => accounts.revealMaster(request, context),
});
