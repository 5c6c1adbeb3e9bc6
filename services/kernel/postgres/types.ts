import { TypeOverrides, types } from "pg";

const INT8_ARRAY = 1016;
const NUMERIC_ARRAY = 1231;

/** How column values are decoded: int8 as bigint, numeric as text, so that neither becomes a float. */
export function exactTypes(): TypeOverrides {
  const overrides = new TypeOverrides();
  overrides.setTypeParser(types.builtins.INT8, BigInt);
  overrides.setTypeParser(types.builtins.NUMERIC, String);
  // A date has no time zone; the driver would read it as midnight in the zone of the machine.
  overrides.setTypeParser(types.builtins.DATE, String);
  overrides.setTypeParser(INT8_ARRAY, (text: string) => parseArray(text, BigInt));
  overrides.setTypeParser(NUMERIC_ARRAY, (text: string) => parseArray(text, String));
  return overrides;
}

/** One-dimensional arrays of numbers need no quoting. */
function parseArray<T>(text: string, parse: (item: string) => T): (T | null)[] {
  const inside = text.slice(1, -1);
  if (inside === "") return [];
  return inside.split(",").map((item) => (item === "NULL" ? null : parse(item)));
}
