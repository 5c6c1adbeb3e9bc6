import { moneyToProto } from "#kernel/contract/money.ts";
import { DAY_MS } from "#kernel/duration.ts";
import { usd } from "#kernel/money.ts";
import { calendarOf, daysOf, isTimeZone, UTC } from "#kernel/time-zone.ts";
import type { SumPaymentCreditsRequest, SumPaymentCreditsResponse } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { refuse } from "../refusals.ts";
import { listCreditedDays } from "../store/credited-days.ts";

/** Limits what is summed: a large pool pays thousands of fees a week. */
const MAX_DAYS = 400;

export async function sumPaymentCredits(
  { pool }: Pick<Deps, "pool">,
  { masterLogin, from, to, timeZone }: SumPaymentCreditsRequest,
): Promise<SumPaymentCreditsResponse> {
  if (from === undefined || to === undefined || to.getTime() - from.getTime() > MAX_DAYS * DAY_MS) {
    throw refuse("validation_failed", `Fees are summed for at most ${MAX_DAYS} days.`);
  }
  if (timeZone !== "" && !isTimeZone(timeZone)) throw refuse("validation_failed", "The time zone is unknown.");
  const calendar = timeZone === "" ? UTC : calendarOf(timeZone);
  const days = await listCreditedDays(pool, masterLogin, daysOf(calendar, from, to));
  return { days: days.map(({ day, amount }) => ({ day, amount: moneyToProto(usd(amount)) })) };
}
