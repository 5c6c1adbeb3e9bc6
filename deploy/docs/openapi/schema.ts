import type { Components, Json } from "./components.ts";

/** Of the schemas that validate and serialise: what is shown instead, the name of a model, and the name of a check. */
type Marked = {
  readonly "x-shown"?: Json;
  readonly "x-check"?: string;
  readonly "x-model"?: string;
  readonly "x-summary"?: string;
  readonly "x-enum-descriptions"?: readonly string[];
} & Json;

/** The schema as readers of the document see it: models become references, and each value of a set is explained. */
export function documented(schema: object, components: Components): Json {
  const { "x-shown": shown, "x-check": _check, ...own } = schema as Marked;
  const { "x-model": name, "x-summary": summary, ...members }: Marked = { ...own, ...shown };
  if (name === undefined) return explained(convert(members, components));
  const { description = summary, default: preset, ...rest } = members;
  const $ref = components.refer("schemas", name, sourceOf(members), () =>
    modelOf({ ...rest, description: summary }, components),
  );
  // A property that uses the model in its own way describes that use beside the reference.
  return {
    ...$ref,
    ...(description === summary ? {} : { description }),
    ...(preset === undefined ? {} : { default: preset }),
  };
}

/** Copies of a schema, such as an optional one, share it. */
function sourceOf({ properties, "x-enum-descriptions": meanings }: Marked): unknown {
  return properties ?? meanings;
}

function modelOf(members: Json, components: Components): Json {
  const { examples: _ofOneUse, ...rest } = members;
  const { enum: values, "x-enum-descriptions": meanings, description } = rest;
  if (!Array.isArray(values)) return convert(rest, components);
  return explained({
    type: "string",
    description,
    enum: values,
    "x-enum-descriptions": meanings,
    examples: [values[0]],
  });
}

function convert(schema: Json, components: Components): Json {
  const entries = Object.entries(schema).map(([keyword, value]) => [keyword, convertValue(keyword, value, components)]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function convertValue(keyword: string, value: unknown, components: Components): unknown {
  if (keyword === "properties" && isJson(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, of]) => [name, documented(of as Json, components)]));
  }
  if (keyword === "items" && isJson(value)) return documented(value, components);
  if (keyword === "anyOf" && Array.isArray(value)) return value.map((each: Json) => documented(each, components));
  return value;
}

/** Viewers show the description, generators write the list of descriptions beside the values. */
function explained(schema: Json): Json {
  const { enum: values, "x-enum-descriptions": meanings, description } = schema;
  if (!Array.isArray(values) || !Array.isArray(meanings)) return schema;
  const list = values.map((value, index) => `- \`${String(value)}\`: ${String(meanings[index])}`);
  return { ...schema, description: `${String(description)}\n\n${list.join("\n")}` };
}

function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
