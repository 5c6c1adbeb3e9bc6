import { Type } from "typebox";
import { endDay, firstDay, MAX_PERIOD_DAYS, periodErrors, periodOf } from "../../schemas/history.ts";
import { PerformanceReply, performanceReply } from "../../schemas/performance.ts";
import { masterLogin } from "../../schemas/request-fields.ts";
import { route } from "../../route.ts";

export const getPerformance = route({
  operationId: "getPerformance",
  method: "GET",
  url: "/api/v1/info/master/:master_login/performance",
  scope: "masters:read",
  class: "read",
  tag: "Masters",
  summary: "Get a Master's performance",
  description: `Value of a unit of the Master's pool by day, for at most ${MAX_PERIOD_DAYS} days, before performance fees. Deposits, withdrawals and fees buy or redeem units and do not change their value, so the return is time-weighted. A unit is worth 1 USD before the first result; units that are issued anew do not change it. A pool is valued by each result, and by the open positions whenever an Investor joins or leaves: between such valuations the result of open positions is not contained. Days without a valuation and without fees are left out. Values are kept since the upgrade to the first version with this route, and begin with 1 then.`,
  returns: "The performance of the period.",
  params: Type.Object({ master_login: masterLogin }),
  query: Type.Object({ from: firstDay, to: endDay }),
  reply: PerformanceReply,
  refusals: ["master_not_found"],
  examples: [
    {
      name: "month",
      summary: "A month with one day of trading",
      request: { params: { master_login: "3000001" }, query: { from: "2026-01-01", to: "2026-02-01" } },
      answer: {
        master_login: "3000001",
        from: "2026-01-01",
        to: "2026-02-01",
        currency: "USD",
        opening_nav_per_unit: null,
        closing_nav_per_unit: 1.45,
        time_weighted_return: 0.45,
        max_drawdown: 0.1,
        fees: 30,
        points: [
          {
            day: "2026-01-02",
            nav_per_unit: 1.45,
            change: 0.45,
            drawdown: 0.1,
            result: 450,
            fees: 0,
            pool_value: 1450,
            last_deal_id: 1234567,
            valued_at: "2026-01-02T03:04:05.678000",
          },
          {
            day: "2026-01-03",
            nav_per_unit: 1.45,
            change: 0,
            drawdown: 0,
            result: 0,
            fees: 30,
            pool_value: 1450,
            last_deal_id: 1234567,
            valued_at: "2026-01-02T03:04:05.678000",
          },
        ],
      },
    },
  ],
  check: ({ query }) => periodErrors(query, MAX_PERIOD_DAYS),

  async handle(deps, { params, query }, context) {
    const login = params.master_login;
    const [{ days, openingValue }, credited] = await Promise.all([
      deps.subscriptions.listPerformance({ masterLogin: login, ...query, limit: MAX_PERIOD_DAYS }, context),
      deps.fees.sumPaymentCredits({ masterLogin: login, ...periodOf(query) }, context),
      deps.accounts.findMaster({ login }, context),
    ]);
    return performanceReply({ masterLogin: login, ...query, days, openingValue, credited: credited.days });
  },
});
