import { isJsonArray, isJsonObject, type JsonValue } from "./json.ts";

/** All values of the members with this name, at any depth. */
export function valuesNamed(value: JsonValue, name: string): JsonValue[] {
  if (isJsonArray(value)) return value.flatMap((item) => valuesNamed(item, name));
  if (!isJsonObject(value)) return [];
  const own = value.get(name) ?? [];
  return [...own, ...Array.from(value.values()).flatMap((values) => values.flatMap((item) => valuesNamed(item, name)))];
}
