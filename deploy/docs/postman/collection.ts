import { requestOf } from "./request.ts";
import type { OpenApi, Operation } from "./open-api.ts";

const SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json";
const BASE_URL = "http://localhost:8080";

const INTRODUCTION =
  "Set the variables of the collection: `baseUrl` is the address of the service without `/api/v1`, `apiKey` is a key with the scopes that the requests name. Each request has its example; optional parameters are disabled. Each command is sent under a new `Idempotency-Key`, so sending one again executes it again.";

/** A Postman collection (v2.1) of the OpenAPI document: a folder for each tag, and a request with its example for each operation. */
export function postmanCollection(document: OpenApi): object {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  return {
    info: { name: document.info.title, description: INTRODUCTION, version: document.info.version, schema: SCHEMA },
    auth: { type: "bearer", bearer: [{ key: "token", value: "{{apiKey}}", type: "string" }] },
    variable: [
      { key: "baseUrl", value: BASE_URL, type: "string" },
      { key: "apiKey", value: "", type: "string" },
    ],
    item: document.tags.map(({ name, description }) => ({
      name,
      description,
      item: operations
        .filter(({ operation }) => operation.tags.includes(name))
        .map(({ path, method, operation }) => {
          const request = requestOf(document, path, method, operation);
          return { name: operation.summary, request, response: answersOf(operation, request) };
        }),
    })),
  };
}

/** The examples of a success, as answers that were saved. */
function answersOf({ responses }: Operation, request: object): object[] {
  const examples = Object.entries(responses[200]?.content?.["application/json"]?.examples ?? {});
  return examples.map(([, { summary, value }]) => ({
    name: summary,
    originalRequest: request,
    status: "OK",
    code: 200,
    header: [{ key: "Content-Type", value: "application/json; charset=utf-8" }],
    body: JSON.stringify(value, undefined, 2),
  }));
}
