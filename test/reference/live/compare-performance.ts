import { itemsOf, textOf } from "../../../deploy/demo/exact-json.ts";
import { minorOf } from "../../journey/support/client.ts";
import { feesByDay } from "../engine/fees.ts";
import { compare, distance, type Fraction, fraction, ONE, plus, show, times } from "../engine/fraction.ts";
import { largestFall } from "../engine/performance.ts";
import type { Master } from "../engine/world.ts";
import { unequal } from "./differences.ts";
import { type Live, masterAccountsOf } from "./live.ts";

const DAY_MS = 86_400_000;
/** Shown are eight decimals of the value and six of a fall; results are rounded to 1e-8 of a pool of some thousand. */
const NEAR = fraction(1n, 1_000_000n);

/** What the performance of a Master shows otherwise than the reference. Days are the platform's: only their sums are compared. */
export async function performanceDifferences(live: Live, master: Master): Promise<string[]> {
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const period = `from=${day(Date.now() - DAY_MS)}&to=${day(Date.now() + 2 * DAY_MS)}`;
  const path = `/api/v1/info/master/${masterAccountsOf(live, master).login}/performance?${period}`;
  const { status, body, text } = await live.client.get(path);
  if (status !== 200) return [`performance of ${master.name}: ${text}`];
  const fees = feesByDay(master);
  const performance = master.pool.performance(fees);
  const { days } = performance;
  const points = itemsOf(body["points"]);
  const sum = (amounts: Iterable<bigint>) => [...amounts].reduce((total, cents) => total + cents, 0n);
  const worst = largestFall(performance);
  const shown = body["closing_nav_per_unit"] === null ? ONE : fractionOf(textOf(body, "closing_nav_per_unit"));
  return [
    near("value of a unit", shown, days.at(-1)?.nav ?? ONE),
    near("drawdown", fractionOf(textOf(body, "max_drawdown")), worst),
    unequal("fees", minorOf(textOf(body, "fees")), sum(fees.values())),
    unequal("fees by day", sum(points.map((point) => minorOf(textOf(point, "fees")))), sum(fees.values())),
    unequal(
      "results",
      sum(points.map((point) => minorOf(textOf(point, "result")))),
      sum(days.map(({ result }) => result)),
    ),
  ]
    .filter((difference) => difference !== undefined)
    .map((difference) => `performance of ${master.name}: ${difference}`);
}

export function fractionOf(text: string): Fraction {
  const [whole = "0", decimals = ""] = text.split(".");
  return fraction(BigInt(`${whole}${decimals}`), 10n ** BigInt(decimals.length));
}

function near(what: string, shown: Fraction, exact: Fraction): string | undefined {
  const isNear = compare(distance(shown, exact), times(NEAR, plus(ONE, exact))) <= 0;
  return isNear ? undefined : `${what} is ${show(shown)}, and ${show(exact)} by the reference`;
}
