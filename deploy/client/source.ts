import { readFileSync } from "node:fs";
import openapiTypescript, { astToString, NULL, STRING, tsUnion } from "openapi-typescript";
import ts from "typescript";
import type { NumberForm } from "../../services/client/numbers.ts";
import { formOfSchema, joined, numberForm, type Schemas } from "./number-forms.ts";

/** The part of an OpenAPI document that the client is made of. */
export type ClientDocument = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Schemas };
};
type Content = { readonly content?: Readonly<Record<string, { readonly schema: Schemas[string] }>> };
type Operation = {
  readonly operationId: string;
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
};

const HEAD = "/** Generated from the OpenAPI document (`make codegen`). */\n";
const BIGINT = ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword);

/** The generated files of services/client by name. */
export async function clientSource(document: ClientDocument): Promise<Readonly<Record<string, string>>> {
  return {
    "openapi.ts": HEAD + (await typesOf(document)),
    "operations.ts": HEAD + operationsOf(document),
    "numbers.ts": HEAD + numbersOf(document),
  };
}

/** 64-bit integers are a bigint, and decimals text, as services/client/json.ts reads and writes them. */
async function typesOf(document: ClientDocument): Promise<string> {
  const nodes = await openapiTypescript(JSON.stringify(document), {
    // A member of a request with a default may be omitted.
    defaultNonNullable: false,
    transform: (schema) => {
      const { type } = schema as { readonly type?: string | readonly string[] };
      const form = numberForm(schema);
      if (form === undefined) return undefined;
      const node = form === "int64" ? BIGINT : STRING;
      return [type].flat().includes("null") ? tsUnion([node, NULL]) : node;
    },
  });
  return astToString(nodes);
}

function operationsOf(document: ClientDocument): string {
  const facts = operationsIn(document).map(({ path, method, operationId }) => {
    return `  ${operationId}: { method: "${method.toUpperCase()}", path: "${path}" },\n`;
  });
  return `export const OPERATIONS = {\n${facts.join("")}} as const;\n`;
}

function numbersOf(document: ClientDocument): string {
  const { schemas } = document.components;
  const forms = operationsIn(document).map(({ operationId, requestBody, responses }) => {
    const answers = Object.entries(responses).flatMap(([status, { content }]) =>
      status.startsWith("2") ? (content?.["application/json"] ?? []) : [],
    );
    const answer = answers.map(({ schema }) => formOfSchema(schema, schemas)).reduce(joined, undefined);
    const sent = requestBody?.content?.["application/json"];
    const body = sent === undefined ? undefined : formOfSchema(sent.schema, schemas);
    return [operationId, { answer, body }] as const;
  });
  const problems = Object.entries(schemas).filter(([name]) => name.endsWith("Problem"));
  const problem = problems.map(([, schema]) => formOfSchema(schema, schemas)).reduce(joined, undefined);
  return [
    `import type { NumberForm } from "../numbers.ts";\n`,
    `type Forms = { readonly answer?: NumberForm; readonly body?: NumberForm };`,
    `export const NUMBERS: Readonly<Record<string, Forms>> = ${written(Object.fromEntries(forms))};`,
    `export const PROBLEM_NUMBERS: NumberForm = ${written(problem ?? {})};\n`,
  ].join("\n");
}

function written(forms: Readonly<Record<string, object>> | NumberForm): string {
  return JSON.stringify(forms, undefined, 2);
}

function operationsIn({ paths }: ClientDocument) {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ path, method, ...operation })),
  );
}

/** Whether the generated files are those of the document. */
export async function isCurrent(document: ClientDocument, folder: string): Promise<boolean> {
  const source = await clientSource(document);
  return Object.entries(source).every(([name, text]) => readFileSync(`${folder}/${name}`, "utf8") === text);
}
