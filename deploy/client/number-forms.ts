import type { NumberForm } from "../../services/client/numbers.ts";

/** A JSON Schema of the OpenAPI document, as far as numbers are concerned. */
type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
};
export type Schemas = Readonly<Record<string, Schema>>;

/** Whether the schema is a number that a float does not keep. */
export function numberForm({ type, format }: Pick<Schema, "type" | "format">): "int64" | "decimal" | undefined {
  const types = [type ?? []].flat();
  if (types.includes("number")) return "decimal";
  return types.includes("integer") && format === "int64" ? "int64" : undefined;
}

/** Where values of the schema have such numbers. Undefined when there are none. */
export function formOfSchema(schema: Schema, schemas: Schemas): NumberForm | undefined {
  if (schema.$ref !== undefined) {
    const referred = schemas[schema.$ref.replace("#/components/schemas/", "")];
    if (referred === undefined) throw new Error(`the document has no ${schema.$ref}`);
    return formOfSchema(referred, schemas);
  }
  const { properties = {}, additionalProperties: others, items, allOf = [], anyOf = [], oneOf = [] } = schema;
  const members = Object.entries({ ...properties, ...(typeof others === "object" ? { "*": others } : {}) });
  const forms = members.flatMap(([name, member]): [string, NumberForm][] => {
    const form = formOfSchema(member, schemas);
    return form === undefined ? [] : [[name, form]];
  });
  const own = numberForm(schema) ?? (forms.length === 0 ? undefined : Object.fromEntries(forms));
  const parts = [...allOf, ...anyOf, ...oneOf, ...(items === undefined ? [] : [items])];
  return parts.map((part) => formOfSchema(part, schemas)).reduce(joined, own);
}

/** A value may be of one or the other schema: what both have must agree. */
export function joined(one: NumberForm | undefined, other: NumberForm | undefined): NumberForm | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  if (typeof one === "string" || typeof other === "string") {
    if (one !== other) throw new Error(`a number is ${JSON.stringify(one)} here and ${JSON.stringify(other)} there`);
    return one;
  }
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  const members = [...names].flatMap((name): [string, NumberForm][] => {
    const form = joined(one[name], other[name]);
    return form === undefined ? [] : [[name, form]];
  });
  return Object.fromEntries(members);
}
