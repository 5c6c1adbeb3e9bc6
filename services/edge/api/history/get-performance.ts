import { Type } from "typebox";
import { systemClock } from "#kernel/clock.ts";
import {
  dayKind,
  daysErrors,
  daysOf,
  DEFAULT_PERIOD_DAYS,
  endDay,
  firstDay,
  MAX_PERIOD_DAYS,
  periodOf,
} from "../schemas/history.ts";
import { PerformanceReply } from "../schemas/performance.ts";
import { masterLogin } from "../schemas/request-fields.ts";
import { route } from "../../http/route.ts";

export const getPerformance = route({
  operationId: "getPerformance",
  method: "GET",
  url: "/api/v1/info/master/:master_login/performance",
  scope: "masters:read",
  class: "read",
  tag: "Masters",
  summary: "Get a Master's performance",
  description: `Value of a unit of the Master's pool by day, for at most ${MAX_PERIOD_DAYS} days, before performance fees; without \`from\` and \`to\` of the last ${DEFAULT_PERIOD_DAYS} days, today included. Deposits, withdrawals and fees buy or redeem units and do not change their value, so the return is time-weighted. The value is that of equity: a pool is valued by each result, and by its open positions whenever an Investor joins or leaves and at least once an hour while positions are open. While the trading platform cannot be read there is no valuation, and none is made up afterwards. A unit is worth 1 USD before the first result; units that are issued anew do not change it. When everything was lost, a period that contains it has the return -1 and the drawdown 1 whatever came afterwards, and the next capital begins with 1 USD again. Days without a valuation and without fees are left out. Values are kept since the upgrade to the first version with this route, and begin with 1 then.`,
  returns: "The performance of the period.",
  params: Type.Object({ master_login: masterLogin }),
  query: Type.Object({
    from: Type.Optional(firstDay),
    to: Type.Optional(endDay),
    day: Type.Optional(dayKind),
  }),
  reply: PerformanceReply,
  refusals: ["master_not_found"],
  check: ({ query }, deps) => daysErrors(query, deps, systemClock(), MAX_PERIOD_DAYS),

  async call(deps, { masterLogin, ...query }, context) {
    const period = daysOf(query, deps, systemClock());
    const isServer = period.day === "server";
    const { from, to } = period;
    const timeZone = isServer ? (deps.serverClock?.zone ?? "") : "";
    const [performance, credited] = await Promise.all([
      deps.subscriptions.listPerformance(
        { masterLogin, from, to, serverDays: isServer, limit: MAX_PERIOD_DAYS },
        context,
      ),
      deps.fees.sumPaymentCredits({ masterLogin, ...periodOf(period, deps), timeZone }, context),
      deps.accounts.findMaster({ login: masterLogin }, context),
    ]);
    return { ...performance, masterLogin, from, to, credited: credited.days };
  },
});
