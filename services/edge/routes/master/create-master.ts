import assert from "node:assert/strict";
import { Type } from "typebox";
import {
  idReply,
  loginReply,
  nameReply,
  secretReply,
  strategyNameReply,
  strategyReply,
  timeReply,
} from "../../schemas/reply-fields.ts";
import { minDeposit, strategy, strategyName } from "../../schemas/request-fields.ts";
import { masterFields } from "../../schemas/master.ts";
import { NEW_ACCOUNT_REFUSALS, newAccount, newAccountRequest } from "../../schemas/new-account.ts";
import { route } from "../../route.ts";
import { decimalText } from "../../wire/json-body.ts";
import { moneyOf } from "../../wire/money.ts";

export const createMaster = route({
  method: "POST",
  url: "/api/v1/master/create",
  scope: "masters:write",
  class: "create",
  tag: "Masters",
  summary: "Create a Master",
  description: "Creates a trading account and its payment account. The response contains secrets.",
  body: Type.Object({
    ...newAccount("Alias of the Master.", "pamm\\master"),
    min_deposit: minDeposit,
    strategy_name: Type.Optional(strategyName),
    strategy: Type.Optional(strategy),
  }),
  reply: Type.Object({
    id: idReply("Internal id of the Master."),
    mt5_login: loginReply("Trading login."),
    name: nameReply,
    strategy_name: strategyNameReply,
    strategy: strategyReply,
    created_at: timeReply("When the Master was created."),
    password: secretReply("Main password of the trading account."),
    investor_password: secretReply("Read-only password of the trading account."),
    payment_account_login: loginReply("Login of the account that receives performance fees."),
  }),
  lookUp:
    "Repeat it with the same Idempotency-Key. Without one, look for its name in GET /api/v1/master/directory before sending a new one.",
  refusals: NEW_ACCOUNT_REFUSALS,

  async handle({ accounts }, { body }, context) {
    const created = await accounts.createMaster(
      {
        ...newAccountRequest(body),
        minDeposit: moneyOf(decimalText(body, "min_deposit")),
        strategyName: body.strategy_name,
        strategy: body.strategy,
      },
      context,
    );
    const { master } = created;
    assert(master !== undefined, "a created Master is missing in the answer");
    return {
      ...masterFields(master),
      password: created.mainPassword,
      investor_password: created.investorPassword,
      payment_account_login: master.paymentAccountLogin,
    };
  },
});
