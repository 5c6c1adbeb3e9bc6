/** The parts of the document that tests read. */
export type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly enum?: readonly string[];
  readonly "x-enum-descriptions"?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
};
type Media = { readonly schema: Schema; readonly examples?: Readonly<Record<string, { readonly value: unknown }>> };
export type Response = {
  readonly $ref?: string;
  readonly description: string;
  readonly headers?: object;
  readonly content?: Readonly<Record<string, Media>>;
};
type Parameter = {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly description?: string;
  readonly schema: Schema;
};
export type Operation = {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly security: readonly object[];
  readonly "x-required-scopes": readonly string[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, Response>>;
};
export type Document = {
  readonly openapi: string;
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly securitySchemes: { readonly apiKey: { readonly description: string } };
  };
};
export type Problem = {
  readonly code: string;
  readonly status: number;
  readonly type: string;
  readonly instance: string;
  readonly outcome?: string;
  readonly errors?: readonly { readonly field: string }[];
};

export function operationsOf({ paths }: Document): (Operation & { readonly path: string; readonly method: string })[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, path, method: method.toUpperCase() })),
  );
}

/** What a reference stands for. */
export function resolve<Part extends { readonly $ref?: string }>(document: object, part: Part): Part {
  if (part.$ref === undefined) return part;
  const names = part.$ref.split("/").slice(1);
  return names.reduce<unknown>((parent, name) => at(parent as Record<string, unknown>, name), document) as Part;
}

/** Every schema of a field, of models and of parameters. */
export function eachSchema(document: Document, visit: (schema: Schema, path: string) => void): void {
  const walk = (schema: Schema, path: string): void => {
    for (const [name, field] of Object.entries(schema.properties ?? {})) {
      visit(field, `${path}.${name}`);
      walk(field, `${path}.${name}`);
    }
    if (schema.items !== undefined) walk(schema.items, `${path}[]`);
  };
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    // The schemas of single codes have only what differs from Problem.
    if (name !== "Problem" && name.endsWith("Problem")) continue;
    if (schema.properties === undefined) visit(schema, name);
    walk(schema, name);
  }
  for (const { operationId, parameters } of operationsOf(document)) {
    for (const one of parameters) {
      const { name, description, schema, ...rest } = resolve(document, one);
      const { example } = rest as { example?: unknown };
      if (schema.$ref === undefined) {
        visit(
          { ...schema, ...(description === undefined ? {} : { description }), examples: [example] },
          `${operationId}.${name}`,
        );
      }
    }
  }
}

export function at<Value>(record: Readonly<Record<string | number, Value>>, name: string | number): Value {
  const value = record[name];
  if (value === undefined) throw new Error(`there is no ${name}`);
  return value;
}
