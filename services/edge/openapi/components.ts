/** A part of the document: JSON. */
export type Json = Readonly<Record<string, unknown>>;

export type Kind = "schemas" | "responses" | "headers" | "parameters";

/** What the operations refer to by name. Each name is declared once; a second, different declaration is a defect. */
export type Components = {
  /** Declares it on first use. */
  readonly refer: (kind: Kind, name: string, declare: () => Json) => { readonly $ref: string };
  readonly all: () => Json;
};

export function createComponents(): Components {
  const kinds = new Map<Kind, Map<string, { json: Json; text: string }>>();
  return {
    refer(kind, name, declare) {
      const named = kinds.get(kind) ?? new Map<string, { json: Json; text: string }>();
      kinds.set(kind, named);
      const json = declare();
      const text = withoutOrder(json);
      const known = named.get(name);
      if (known !== undefined && known.text !== text) throw new Error(`two different ${kind} are named ${name}`);
      if (known === undefined) named.set(name, { json, text });
      return { $ref: `#/components/${kind}/${name}` };
    },
    all: () => Object.fromEntries([...kinds].map(([kind, named]) => [kind, sorted(named)])),
  };
}

/** An answer may have the members of a model in another order. */
function withoutOrder(json: Json): string {
  return JSON.stringify(json, (keyword, value: unknown) => {
    if (Array.isArray(value)) return keyword === "required" ? value.toSorted(byText) : value;
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).toSorted(([left], [right]) => byText(left, right)));
  });
}

function byText(left: string, right: string): number {
  return left < right ? -1 : 1;
}

function sorted(named: ReadonlyMap<string, { readonly json: Json }>): Json {
  const byName = [...named].toSorted(([left], [right]) => byText(left, right));
  return Object.fromEntries(byName.map(([name, { json }]) => [name, json]));
}
