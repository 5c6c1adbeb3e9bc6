import type { Client, Models } from "../../../client/index.ts";
import { aFewAtATime } from "../../data/a-few-at-a-time.ts";
import type { PlotPoint } from "../../components/plot/points.ts";

type Explanation = Models["FeePaymentExplanation"];

/** The explanations of payments. */
export async function readExplanations(
  client: Client,
  ids: readonly bigint[],
  signal: AbortSignal,
): Promise<readonly Explanation[]> {
  const found: Explanation[] = [];
  await aFewAtATime(ids, async (id) => {
    found.push(await client.query("getFeePaymentExplanation", { path: { payment_id: id } }, { signal }));
  });
  return found;
}

/** The result and the high-water mark after each fee with one Master, ascending. A debt has no mark of its own. */
export function marksOf(explanations: readonly Explanation[], master: string): readonly PlotPoint[] {
  return explanations
    .flatMap(({ master_login: login, calculation }) => (login === master && calculation !== null ? [calculation] : []))
    .toSorted((left, right) => (left.at < right.at ? -1 : 1))
    .map(({ at, result, high_water_mark_after: mark }) => ({ at, values: [result, mark] }));
}
