/** A part of the document: JSON. */
export type Json = Readonly<Record<string, unknown>>;

export type Kind = "schemas" | "responses" | "headers" | "parameters";

/** What the operations refer to by name. Each name is declared once; a second, different declaration is a defect. */
export type Components = {
  /** Declares it on first use. It is declared again, and compared, for another `source`. */
  readonly refer: (kind: Kind, name: string, source: unknown, declare: () => Json) => { readonly $ref: string };
  readonly all: () => Json;
};

type Declared = { readonly json: Json; readonly sources: Set<unknown> };

export function createComponents(): Components {
  const kinds = new Map<Kind, Map<string, Declared>>();
  return {
    refer(kind, name, source, declare) {
      const named = kinds.get(kind) ?? new Map<string, Declared>();
      kinds.set(kind, named);
      const known = named.get(name);
      if (known === undefined) named.set(name, { json: declare(), sources: new Set([source]) });
      else if (!known.sources.has(source)) {
        const isEqual = withoutOrder(known.json) === withoutOrder(declare());
        if (!isEqual) throw new Error(`two different ${kind} are named ${name}`);
        known.sources.add(source);
      }
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
