import type { FastifyInstance } from "fastify";

/** A JSON schema of /openapi.json, with the members from which the tests make requests. */
export type Schema = {
  readonly type?: string | readonly string[];
  readonly examples?: readonly unknown[];
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
};

export type Field = {
  readonly location: "path" | "query" | "body" | "header";
  /** `parent.child` for a field of an object. */
  readonly name: string;
  readonly isRequired: boolean;
  readonly schema: Schema;
};

export type Route = {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE" | "PUT";
  readonly path: string;
  readonly fields: readonly Field[];
  /** Codes of problems by status, and the text of each. */
  readonly problems: Readonly<Record<string, string>>;
};

type Parameter = { name: string; in: Field["location"]; required?: boolean; schema: Schema };
type Documented = {
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { description: string }>;
};

export async function readRoutes(app: FastifyInstance): Promise<Route[]> {
  const response = await app.inject({ url: "/openapi.json" });
  const { paths } = response.json<{ paths: Record<string, Record<string, Documented>> }>();
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, documented]) => routeOf(method, path, documented)),
  );
}

function routeOf(method: string, path: string, { parameters = [], requestBody, responses }: Documented): Route {
  const body = Object.values(requestBody?.content ?? {})[0]?.schema;
  return {
    method: method.toUpperCase() as Route["method"],
    path,
    fields: [
      ...parameters.map(({ name, in: location, required = false, schema }) => ({
        location,
        name,
        isRequired: required,
        schema,
      })),
      ...(body === undefined ? [] : fieldsOf(body, "", true)),
    ],
    problems: Object.fromEntries(Object.entries(responses).map(([status, { description }]) => [status, description])),
  };
}

function fieldsOf({ properties = {}, required = [] }: Schema, prefix: string, isNeeded: boolean): Field[] {
  return Object.entries(properties).flatMap(([own, schema]) => {
    const name = `${prefix}${own}`;
    const isRequired = isNeeded && required.includes(own);
    if (schema.properties !== undefined) return fieldsOf(schema, `${name}.`, isRequired);
    return [{ location: "body" as const, name, isRequired, schema }];
  });
}
