import type { TProperties, TSchema } from "typebox";
import type { CheckName } from "../schemas/checks.ts";
import { decimalText } from "../wire/json-body.ts";
import { moneyOf, moneyText } from "../wire/money.ts";
import { ratePpm } from "../wire/rate.ts";
import { parseTimestamp } from "../wire/timestamp.ts";

export type Shape = { readonly properties: TProperties };

const asMoney = (text: string): string => moneyText(moneyOf(text));
const asInteger = (text: string): string => String(BigInt(text));

/** Values with several spellings: 100, 100.0 and 100.00 are one amount, and one instant has many offsets. */
const CANONICAL_TEXT: Partial<Readonly<Record<CheckName, (text: string) => string>>> = {
  amount: asMoney,
  min_deposit: asMoney,
  rate: (text) => String(ratePpm(text)),
  id: asInteger,
  leverage: asInteger,
  datetime: (text) => parseTimestamp(text)?.toISOString() ?? text,
};

/** The valid parameters of a route in the order of their names, each in its canonical form; a missing one has its default. */
export function canonical(shape: Shape | undefined, value: unknown): unknown {
  if (shape === undefined || typeof value !== "object" || value === null) return null;
  const names = Object.keys(shape.properties).toSorted();
  return names.flatMap((name) => {
    const member = canonicalMember(shape.properties[name], value, name);
    return member === undefined ? [] : [[name, member]];
  });
}

function canonicalMember(schema: TSchema | undefined, parent: object, name: string): unknown {
  if (schema === undefined) return undefined;
  const written = Object.hasOwn(parent, name) ? (parent as Record<string, unknown>)[name] : undefined;
  if ("properties" in schema) return written === undefined ? undefined : canonical(schema as unknown as Shape, written);
  if (typeof written === "object" && written !== null && !Array.isArray(written)) return inOrder(written);
  const text = written === undefined ? undefined : decimalText(parent, name);
  const value = text ?? written ?? ("default" in schema ? schema.default : undefined);
  const check = "x-check" in schema ? (schema["x-check"] as CheckName) : undefined;
  const canonicalText = check && CANONICAL_TEXT[check];
  return typeof value === "string" && canonicalText !== undefined ? canonicalText(value) : value;
}

/** Members without names in the schema, such as metadata: their order says nothing. */
function inOrder(members: object): unknown {
  return Object.entries(members).toSorted(([one], [other]) => (one < other ? -1 : 1));
}
