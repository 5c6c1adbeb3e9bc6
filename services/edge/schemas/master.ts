import assert from "node:assert/strict";
import { Type } from "typebox";
import type { Master } from "#proto/pamm/account/v1/account.ts";
import { moneyNumber } from "../wire/money.ts";
import { timestamp } from "../wire/timestamp.ts";
import {
  idReply,
  loginReply,
  moneyReply,
  nameReply,
  strategyNameReply,
  strategyReply,
  timeReply,
} from "./reply-fields.ts";
import { integer, string } from "./field.ts";

export const engineReply = string({ description: "Always PAMM.", example: "PAMM" });

export const investorsCountReply = integer({
  description: "Number of active Investors: subscription ACTIVE, in the pool, not ended.",
  example: 2,
});

export const MasterItem = Type.Object(
  {
    engine: engineReply,
    id: idReply("Internal id."),
    mt5_login: loginReply("Trading login."),
    name: nameReply,
    strategy_name: strategyNameReply,
    strategy: strategyReply,
    investors_count: investorsCountReply,
    payment_account_login: loginReply("Login of the account that receives performance fees."),
    min_deposit: moneyReply("Minimum Investor balance for an assignment, USD.", 100),
    created_at: timeReply("When the Master was created or registered."),
  },
  { description: "A Master as the directory shows it." },
);

/** The fields that every reply about a Master has. A text that was never given is empty. */
export function masterFields({ id, login, name, strategyName, strategy, createdAt }: Master) {
  return {
    id,
    mt5_login: login,
    name,
    strategy_name: strategyName ?? "",
    strategy: strategy ?? "",
    created_at: timestamp(createdAt),
  };
}

export function masterItem(master: Master) {
  return {
    engine: "PAMM",
    ...masterFields(master),
    investors_count: investorsCount(master),
    payment_account_login: master.paymentAccountLogin,
    min_deposit: moneyNumber(master.minDeposit),
  };
}

/** The account service sets it in each response that shows it. */
export function investorsCount({ investorsCount: count }: Master): bigint {
  assert(count !== undefined, "the number of Investors is missing in the answer");
  return count;
}
