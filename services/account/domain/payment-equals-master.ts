import type { Refusal } from "#kernel/refusal.ts";
import { refuse } from "../refusals.ts";

export function paymentEqualsMaster(login: string): Refusal {
  const [code, message] = [
    "payment_account_equals_master",
    `payment_account_login must differ from the trading login ${login}.`,
  ] as const;
  const errors = [{ field: "payment_account_login", code, message }];
  return refuse(code, message, { errors, outcome: "not_executed" });
}
