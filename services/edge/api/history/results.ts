import type { ValuedPool } from "#proto/pamm/subscription/v1/subscription.ts";
import { type About, model, nullableDecimal } from "../../fields/field.ts";
import { at, optional, or, shown } from "../../fields/message.ts";
import { DEFAULT_LIMIT, limit500, OpaquePage } from "../../fields/page.ts";
import { idReply, moneyReply, ticketReply, timeReply, unitsReply } from "../../fields/reply-fields.ts";
import { pageRoute } from "../../http/page-route.ts";
import { masterLogin } from "../schemas/request-fields.ts";
import type { JsonNumber } from "../../wire/number.ts";
import { drawdownNumber, navNumber, poolValueNumber } from "./performance.ts";
import { dayKind, periodErrors, periodFrom, periodOf, periodTo } from "./periods.ts";

const ofPool = (about: About, show: (pool: ValuedPool) => JsonNumber) =>
  at(
    "valued",
    shown(nullableDecimal(about), (pool: ValuedPool | undefined) => (pool === undefined ? null : show(pool))),
  );

const ResultReply = model("MasterResult", "A result of a Master, and the value of its pool after it.", {
  number: idReply("Number of the result among those of the Master.", 17),
  deal_id: ticketReply("Ticket of the Master's deal."),
  deal_at: timeReply("Time of the deal."),
  allocated_at: timeReply("When the result was allocated."),
  result: moneyReply("Result of the deal for the whole pool: profit, swap, commission and fee; signed.", 450),
  raised: moneyReply(
    "What the broker's compensation of a stop-out has raised shares below zero by, own capital included: no part of `result`. 0 for every other deal.",
    0,
  ),
  nav_per_unit: ofPool(
    { description: "Value of a unit after the result; null while the units had no value.", example: 1.45 },
    ({ value }) => navNumber(BigInt(value)),
  ),
  drawdown: ofPool(
    {
      description: "How far the value is below the highest value so far: 0.05 is 5 %. Null like `nav_per_unit`.",
      example: 0,
    },
    ({ drawdownPpm }) => drawdownNumber(drawdownPpm),
  ),
  pool_value: ofPool(
    {
      description: "Value of the whole pool after the result, own capital included; null like `nav_per_unit`.",
      example: 1450,
    },
    ({ poolValueE8 }) => poolValueNumber(poolValueE8),
  ),
  pool_units: unitsReply("Units of the whole pool."),
});

export const listResults = pageRoute("GET /api/v1/info/master/:master_login/results", {
  scope: "masters:read",
  summary: "List a Master's results",
  description:
    "The results of the Master's deals that were allocated to its pool, newest first, each with the value of a unit after it, in which other open positions have the result of their last valuation. `from` and `to` are times of `allocated_at`. A result of 0.00 is one too. Valuations without a result are in the performance by day.",
  returns: "A page of results.",
  params: { master_login: masterLogin },
  filter: {
    from: optional(periodFrom),
    to: optional(periodTo),
    day: or(dayKind, "utc"),
  },
  limit: limit500(DEFAULT_LIMIT),
  reply: OpaquePage("MasterResultPage", ResultReply, "Newest first."),
  refusals: ["master_not_found"],
  check: ({ query }, deps) => periodErrors(query, deps),

  async call(deps, { masterLogin, limit, ...period }, beforeLogNumber, context) {
    const request = { masterLogin, ...periodOf(period, deps), beforeLogNumber, limit };
    const [page] = await Promise.all([
      deps.subscriptions.listResults(request, context),
      deps.accounts.findMaster({ login: masterLogin }, context),
    ]);
    return page;
  },
  next: ({ items, hasMore }) => (hasMore ? items.at(-1)?.logNumber : undefined),
});
