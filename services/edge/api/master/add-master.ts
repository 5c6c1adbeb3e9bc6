import { Type } from "typebox";
import { aliasField, loginField, masterLogin, minDeposit, strategy, strategyName } from "../schemas/request-fields.ts";
import { MasterItem } from "../schemas/master.ts";
import { labelFields } from "../schemas/labels.ts";
import { route } from "../../http/route.ts";
import { at } from "../../fields/message.ts";

export const addMaster = route({
  operationId: "registerMaster",
  method: "POST",
  url: "/api/v1/master/add",
  scope: "masters:write",
  class: "money",
  tag: "Masters",
  summary: "Register a Master",
  description:
    "Registers two existing accounts of the trading platform: the trading account and the payment account that receives performance fees. The payment account must have no open positions, and may not trade from then on.",
  returns: "The registered Master.",
  body: Type.Object({
    mt5_login: at("login", masterLogin),
    name: Type.Optional(aliasField("Alias of the Master; its login when missing.", "Alpha Strategy")),
    strategy_name: Type.Optional(strategyName),
    strategy: Type.Optional(strategy),
    payment_account_login: loginField("Login of the account that receives fees; never the trading account.", "payment"),
    min_deposit: minDeposit,
    ...labelFields,
  }),
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
