import type { Client, Models } from "../../../client/index.ts";
import type { PlotPoint } from "../../components/plot/points.ts";

type Explanation = Models["FeePaymentExplanation"];

const AT_A_TIME = 4;

/** The explanations of payments, a few requests at a time. */
export async function readExplanations(
  client: Client,
  ids: readonly bigint[],
  signal: AbortSignal,
): Promise<readonly Explanation[]> {
  const left = [...ids];
  const found: Explanation[] = [];
  const worker = async (): Promise<void> => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) {
      found.push(await client.query("getFeePaymentExplanation", { path: { payment_id: id } }, { signal }));
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
  return found;
}

/** The result and the high-water mark after each fee with one Master, ascending. A debt has no mark of its own. */
export function marksOf(explanations: readonly Explanation[], master: string): readonly PlotPoint[] {
  return explanations
    .flatMap(({ master_login: login, calculation }) => (login === master && calculation !== null ? [calculation] : []))
    .toSorted((left, right) => (left.at < right.at ? -1 : 1))
    .map(({ at, result, high_water_mark_after: mark }) => ({ at, values: [result, mark] }));
}
