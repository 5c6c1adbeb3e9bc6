import assert from "node:assert/strict";
import { Type } from "typebox";
import {
  idReply,
  loginReply,
  moneyReply,
  nameReply,
  nullableSecretReply,
  strategyNameReply,
  strategyReply,
  timeReply,
} from "../../schemas/reply-fields.ts";
import { masterLogin } from "../../schemas/request-fields.ts";
import { investorsCount, investorsCountReply, masterFields } from "../../schemas/master.ts";
import { route } from "../../route.ts";
import { moneyNumber } from "../../wire/money.ts";

export const revealMaster = route({
  method: "GET",
  url: "/api/v1/info/master/:master_login",
  scope: "secrets:read",
  class: "read",
  tag: "Masters",
  summary: "Get a Master with its passwords",
  description: "For authorised back ends only. Every call is audited. Do not log the response body.",
  params: Type.Object({ master_login: masterLogin }),
  reply: Type.Object({
    id: idReply("Internal id of the Master."),
    mt5_login: loginReply("Trading login."),
    name: nameReply,
    mt5_password: nullableSecretReply("Main password of the trading account."),
    mt5_investor_password: nullableSecretReply("Read-only password of the trading account."),
    strategy_name: strategyNameReply,
    strategy: strategyReply,
    payment_account_login: loginReply("Login of the account that receives performance fees."),
    min_deposit: moneyReply("Minimum Investor balance for an assignment, USD.", 100),
    created_at: timeReply("When the Master was created or registered."),
    investors_count: investorsCountReply,
  }),
  refusals: ["master_not_found"],
  revealsSecrets: true,

  async handle({ accounts }, { params }, context) {
    const revealed = await accounts.revealMaster({ login: params.master_login }, context);
    const { master } = revealed;
    assert(master !== undefined, "the Master is missing in the answer");
    return {
      ...masterFields(master),
      mt5_password: revealed.mainPassword ?? null,
      mt5_investor_password: revealed.investorPassword ?? null,
      payment_account_login: master.paymentAccountLogin,
      min_deposit: moneyNumber(master.minDeposit),
      investors_count: investorsCount(master),
    };
  },
});
