import type { Models } from "../../../client/index.ts";
import { addDecimals, compareDecimals, subtractDecimals } from "../../formats/decimal.ts";
import { SHADES, type StackPart } from "../stack/stack.tsx";
import { rateText } from "./rate.ts";

type Calculation = Models["FeeCalculation"];
type Layer = Models["FeeLayer"];

export type LayerRow = Layer & { readonly number: number; readonly isSpared: boolean };

/** The profit above the high-water mark, the oldest first; what an open loss spares was earned last. */
export function layersOf({ charged, spared }: Calculation): readonly LayerRow[] {
  const rows = [
    ...charged.map((layer) => ({ ...layer, isSpared: false })),
    ...spared.map((layer) => ({ ...layer, isSpared: true })),
  ];
  return rows.map((row, index) => ({ ...row, number: index + 1 }));
}

/** From the high-water mark before up to the result: a part for each layer, one shade for each rate. */
export function partsOf(calculation: Calculation): { readonly parts: readonly StackPart[]; readonly whole: string } {
  const layers = layersOf(calculation);
  const rates = [...new Set(layers.map(({ rate }) => rate))];
  const parts = layers.map(({ number, amount, rate, isSpared }): StackPart => ({
    id: String(number),
    title: isSpared ? `Layer ${number}, spared` : `Layer ${number} at ${rateText(rate)}`,
    amount,
    shade: isSpared ? "spared" : rates.indexOf(rate) % SHADES,
  }));
  return { parts, whole: addDecimals(layers.map(({ amount }) => amount)) };
}

/** How far the result is below the mark, where no fee is due; undefined when it is not. */
export function belowMark({ result, high_water_mark_before: mark }: Calculation): string | undefined {
  return compareDecimals(result, mark) < 0 ? subtractDecimals(mark, result) : undefined;
}
