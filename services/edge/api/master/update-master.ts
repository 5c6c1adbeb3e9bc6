import { Type } from "typebox";
import {
  acceptingInvestors,
  aliasField,
  loginField,
  masterId,
  minDepositNumber,
  strategy,
  strategyName,
} from "../schemas/request-fields.ts";
import { MasterItem } from "../schemas/master.ts";
import { demandScope } from "../../identity/keys/caller.ts";
import { labelChangeFields } from "../schemas/labels.ts";
import { route } from "../../http/route.ts";
import { at } from "../../fields/message.ts";

export const updateMaster = route({
  operationId: "updateMaster",
  method: "PATCH",
  url: "/api/v1/master/:master_id",
  scope: "masters:write",
  class: "money",
  tag: "Masters",
  summary: "Update a Master",
  description:
    "At least one field is required; omitted fields keep their value, and members of `metadata` are merged. A new minimum deposit applies to later assignments only. `accepting_investors: false` refuses assignments; Investors who are assigned stay, top up and leave as before. `payment_account_login` is where later fees are paid: an account without open positions, which may not trade from then on; the key needs the scope `fees:write`, too.",
  returns: "The Master after the change.",
  params: Type.Object({ master_id: at("id", masterId) }),
  body: Type.Object({
    name: Type.Optional(aliasField("Alias of the Master.", "Alpha Strategy")),
    strategy_name: Type.Optional(strategyName),
    strategy: Type.Optional(strategy),
    min_deposit: Type.Optional(minDepositNumber),
    accepting_investors: Type.Optional(acceptingInvestors),
    payment_account_login: Type.Optional(loginField("Login of the account that receives later fees.", "payment")),
    ...labelChangeFields,
  }),
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
