import assert from "node:assert/strict";
import type { Static } from "typebox";
import type { MasterResult } from "#proto/pamm/subscription/v1/subscription.ts";
import { moneyNumber } from "../../wire/money.ts";
import { unitsNumber } from "../../wire/scaled.ts";
import { timestamp } from "../../wire/timestamp.ts";
import { decimal, model, nullableDecimal } from "../../fields/field.ts";
import { drawdownNumber, navNumber, poolValueNumber } from "./performance.ts";
import { idReply, moneyReply, ticketReply, timeReply } from "./reply-fields.ts";

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
  nav_per_unit: nullableDecimal({
    description: "Value of a unit after the result; null while the units had no value.",
    example: 1.45,
  }),
  drawdown: nullableDecimal({
    description: "How far the value is below the highest value so far: 0.05 is 5 %. Null like `nav_per_unit`.",
    example: 0,
  }),
  pool_value: nullableDecimal({
    description: "Value of the whole pool after the result, own capital included; null like `nav_per_unit`.",
    example: 1450,
  }),
  pool_units: decimal({ description: "Units of the whole pool.", example: 1000 }),
});

export function resultItem({ valued, result, raised, ...known }: MasterResult): Static<typeof ResultReply> {
  assert(result !== undefined && raised !== undefined, "an amount is missing in the answer");
  return {
    number: known.number,
    deal_id: known.dealId,
    deal_at: timestamp(known.dealAt),
    allocated_at: timestamp(known.allocatedAt),
    result: moneyNumber(result),
    raised: moneyNumber(raised),
    nav_per_unit: valued === undefined ? null : navNumber(BigInt(valued.value)),
    drawdown: valued === undefined ? null : drawdownNumber(valued.drawdownPpm),
    pool_value: valued === undefined ? null : poolValueNumber(valued.poolValueE8),
    pool_units: unitsNumber(known.poolUnits),
  };
}
