import { Type } from "typebox";
import { Refusal } from "#kernel/refusal.ts";
import { bool, nullableDecimal, nullableString } from "../../schemas/field.ts";
import { loginField, loginReply } from "../../schemas/fields.ts";
import { route } from "../../route.ts";
import { moneyNumber } from "../../wire/money.ts";

export const getBalance = route({
  method: "GET",
  url: "/api/v1/info/balance/:mt5_login",
  scope: "investors:read",
  class: "read",
  tag: "Funds",
  summary: "Read the balance of an account",
  description:
    "Of any login that this service knows. A balance that could not be read is no HTTP error: ok is false and error says why.",
  params: Type.Object({ mt5_login: loginField("Login of a Master, a payment account or an Investor.") }),
  reply: Type.Object({
    mt5_login: loginReply("The login that was asked for."),
    balance: nullableDecimal({ description: "Balance in USD; null when it could not be read.", example: 250.5 }),
    ok: bool({ description: "Whether the balance could be read.", example: true }),
    error: nullableString({ description: "Why it could not be read.", example: null }),
  }),
  refusals: [],

  async handle({ funding }, { params }, context) {
    const login = params.mt5_login;
    const { balance, error } = await funding.getBalance({ login }, context).catch((cause: unknown) => {
      if (!(cause instanceof Refusal) || cause.status === "internal") throw cause;
      return { balance: undefined, error: "the balance cannot be read now" };
    });
    const ok = balance !== undefined && error === "";
    return {
      mt5_login: login,
      balance: balance === undefined ? null : moneyNumber(balance),
      ok,
      error: ok ? null : error,
    };
  },
});
