import { Type } from "typebox";
import type { Investor } from "#proto/pamm/account/v1/account.ts";
import { timestamp } from "../wire/timestamp.ts";
import { idReply, loginReply, nameReply, timeReply } from "./reply-fields.ts";
import { engineReply } from "./master.ts";

export const InvestorItem = Type.Object(
  {
    engine: engineReply,
    id: idReply("Internal id."),
    mt5_login: loginReply("Login of the Investor."),
    name: nameReply,
    created_at: timeReply("When the Investor was created or registered."),
  },
  { description: "An Investor as the directory shows it." },
);

/** The fields that every reply about an Investor has. */
export function investorFields({ id, login, name, createdAt }: Investor) {
  return { id, mt5_login: login, name, created_at: timestamp(createdAt) };
}

export function investorItem(investor: Investor) {
  return { engine: "PAMM", ...investorFields(investor) };
}
