import { TypeOverrides, types } from "pg";

const INT8_ARRAY = 1016;
const NUMERIC_ARRAY = 1231;

/** How column values are decoded: int8 and numeric as bigint, so that neither becomes a float. A number with decimals is selected as text. */
export function exactTypes(): TypeOverrides {
  const overrides = new TypeOverrides();
  overrides.setTypeParser(types.builtins.INT8, BigInt);
  overrides.setTypeParser(types.builtins.NUMERIC, BigInt);
  // A date has no time zone; the driver would read it as midnight in the zone of the machine.
  overrides.setTypeParser(types.builtins.DATE, String);
  overrides.setTypeParser(INT8_ARRAY, (text: string) => parseArray(text, BigInt));
  overrides.setTypeParser(NUMERIC_ARRAY, (text: string) => parseArray(text, BigInt));
  return overrides;
}

/** One-dimensional arrays of numbers need no quoting. */
function parseArray<T>(text: string, parse: (item: string) => T): (T | null)[] {
  const inside = text.slice(1, -1);
  if (inside === "") return [];
  return inside.split(",").map((item) => (item === "NULL" ? null : parse(item)));
}
