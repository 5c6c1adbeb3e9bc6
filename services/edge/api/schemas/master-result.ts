import type { ValuedPool } from "#proto/pamm/subscription/v1/subscription.ts";
import { type About, model, nullableDecimal } from "../../fields/field.ts";
import { at, shown } from "../../fields/message.ts";
import type { JsonNumber } from "../../wire/json-number.ts";
import { drawdownNumber, navNumber, poolValueNumber } from "./performance.ts";
import { idReply, moneyReply, ticketReply, timeReply, unitsReply } from "../../fields/reply-fields.ts";

const ofPool = (about: About, show: (pool: ValuedPool) => JsonNumber) =>
  at(
    "valued",
    shown(nullableDecimal(about), (pool: ValuedPool | undefined) => (pool === undefined ? null : show(pool))),
  );

export const ResultReply = model("MasterResult", "A result of a Master, and the value of its pool after it.", {
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
