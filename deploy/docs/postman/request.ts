import type { OpenApi, Operation, Parameter } from "./open-api.ts";

const IDEMPOTENCY_KEY = "Idempotency-Key";
/** Postman replaces it with a new UUID each time that the request is sent. */
const NEW_KEY = "{{$guid}}";

/** A request of the collection, with the first example of its operation. */
export function requestOf(document: OpenApi, path: string, method: string, operation: Operation): object {
  const parameters = operation.parameters.map((parameter) => resolved(document, parameter));
  const query = parameters.filter((parameter) => parameter.in === "query").map(written);
  const variable = parameters.filter((parameter) => parameter.in === "path").map(written);
  const segments = path
    .slice(1)
    .split("/")
    .map((segment) => segment.replace(/^\{(.*)\}$/, ":$1"));
  const sent = query.filter(({ disabled }) => disabled !== true).map(({ key, value }) => `${key}=${value}`);
  const body = bodyOf(operation);
  const isCommand = parameters.some(({ name }) => name === IDEMPOTENCY_KEY);
  return {
    method: method.toUpperCase(),
    description: operation.description,
    header: [
      ...(body === undefined ? [] : [{ key: "Content-Type", value: "application/json" }]),
      ...(isCommand ? [{ key: IDEMPOTENCY_KEY, value: NEW_KEY }] : []),
    ],
    url: {
      raw: `{{baseUrl}}/${segments.join("/")}${sent.length === 0 ? "" : `?${sent.join("&")}`}`,
      host: ["{{baseUrl}}"],
      path: segments,
      ...(query.length === 0 ? {} : { query }),
      ...(variable.length === 0 ? {} : { variable }),
    },
    ...(body === undefined ? {} : { body }),
  };
}

function resolved({ components }: OpenApi, parameter: Operation["parameters"][number]): Parameter {
  if (!("$ref" in parameter)) return parameter;
  const found = components.parameters[parameter.$ref.replace("#/components/parameters/", "")];
  if (found === undefined) throw new Error(`the document has no ${parameter.$ref}`);
  return found;
}

function written({ name, required, description, example }: Parameter) {
  const value = typeof example === "string" ? example : JSON.stringify(example ?? "");
  return {
    key: name,
    value,
    ...(description === undefined ? {} : { description }),
    ...(required ? {} : { disabled: true }),
  };
}

function bodyOf({ requestBody }: Operation): object | undefined {
  const [example] = Object.values(requestBody?.content["application/json"]?.examples ?? {});
  if (requestBody === undefined) return undefined;
  const raw = JSON.stringify(example?.value ?? {}, undefined, 2);
  return { mode: "raw", raw, options: { raw: { language: "json" } } };
}
