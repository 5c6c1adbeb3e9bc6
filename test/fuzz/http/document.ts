import { openApiDocument } from "../../../deploy/docs/openapi/document.ts";
import { DOCUMENTED_ROUTES } from "../../../services/edge/api/documented-routes.ts";

/** A JSON schema of the OpenAPI document, with the members from which the tests make requests. */
export type Schema = {
  readonly $ref?: string;
  readonly "x-also-accepts"?: readonly string[];
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

type Parameter = {
  $ref?: string;
  name: string;
  in: Field["location"];
  required?: boolean;
  schema: Schema;
  example?: unknown;
};
type Response = { $ref?: string; description: string };
type Documented = {
  parameters: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, Response>;
};
type Document = { readonly paths: Record<string, Record<string, Documented>> };

export function documentedRoutes(): Route[] {
  const document = openApiDocument(DOCUMENTED_ROUTES) as Document;
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, documented]) => routeOf(document, method, path, documented)),
  );
}

function routeOf(document: Document, method: string, path: string, documented: Documented): Route {
  const { parameters, requestBody, responses } = documented;
  const body = Object.values(requestBody?.content ?? {})[0]?.schema;
  return {
    method: method.toUpperCase() as Route["method"],
    path,
    fields: [
      ...parameters.map((parameter) => {
        const { name, in: location, required = false, schema, example } = resolve(document, parameter);
        // Ids and durations have forms that only an example shows; a number is any, so that no request waits for long.
        const examples = schema.type === "integer" || example === undefined ? {} : { examples: [example] };
        return { location, name, isRequired: required, schema: { ...resolve(document, schema), ...examples } };
      }),
      ...(body === undefined ? [] : fieldsOf(document, resolve(document, body), "", true)),
    ],
    problems: Object.fromEntries(
      Object.entries(responses).map(([status, response]) => [status, resolve(document, response).description]),
    ),
  };
}

function fieldsOf(
  document: Document,
  { properties = {}, required = [] }: Schema,
  prefix: string,
  isNeeded: boolean,
): Field[] {
  return Object.entries(properties).flatMap(([own, reference]) => {
    const schema = resolve(document, reference);
    const name = `${prefix}${own}`;
    const isRequired = isNeeded && required.includes(own);
    if (schema.properties !== undefined) return fieldsOf(document, schema, `${name}.`, isRequired);
    return [{ location: "body" as const, name, isRequired, schema }];
  });
}

function resolve<Part extends { readonly $ref?: string }>(document: object, part: Part): Part {
  const names = part.$ref?.split("/").slice(1) ?? [];
  if (names.length === 0) return part;
  return names.reduce<unknown>((parent, name) => (parent as Record<string, unknown>)[name], document) as Part;
}
