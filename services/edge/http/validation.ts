import type { FastifyRequest, FastifyServerOptions } from "fastify";
import type { FieldError } from "#kernel/refusal.ts";
import { CHECKS, type CheckName } from "../fields/checks.ts";
import { decimalText } from "../wire/json-body.ts";
import { QUERY_ERRORS, type Query } from "../wire/query-string.ts";

type AjvOptions = NonNullable<FastifyServerOptions["ajv"]>;
type Ajv = Parameters<Extract<NonNullable<AjvOptions["plugins"]>[number], (...args: never[]) => unknown>>[0];

/** One mistake as the validator reports it. */
type Found = {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Of what is wrong with the name itself; the keyword propertyNames reports it too. */
  readonly propertyName?: string;
};

/** Where the validator found a value. */
type Position = { readonly parentData: object; readonly parentDataProperty: string | number };
type CheckFunction = ((value: unknown, position?: Position) => boolean) & { errors?: Partial<Found>[] };

/** The validator reports all mistakes and changes no value: no coercion, no removal, no defaults. */
export const AJV: AjvOptions = {
  customOptions: {
    coerceTypes: false,
    removeAdditional: false,
    useDefaults: false,
    // Harmless here: bodies are small and flat, and no schema has an expensive keyword.
    allErrors: true,
    allowUnionTypes: true,
  },
  plugins: [addChecks],
};

function addChecks(ajv: Ajv): Ajv {
  for (const keyword of ["x-shown", "x-model", "x-summary", "x-enum-descriptions"]) ajv.addKeyword({ keyword });
  return ajv.addKeyword({ keyword: "x-check", schemaType: "string", errors: true, compile: compileCheck });
}

function compileCheck(name: CheckName): CheckFunction {
  const check = CHECKS[name];
  const validate: CheckFunction = (_value, position) => {
    // The type alone reports values that are neither text nor number.
    const text = position && decimalText(position.parentData, String(position.parentDataProperty));
    const problem = text === undefined ? undefined : check(text);
    validate.errors = problem === undefined ? [] : [{ keyword: "x-check", params: problem }];
    return problem === undefined;
  };
  return validate;
}

/** More than any route has fields: the rest of an object with any members. */
const MAX_MISTAKES = 100;
const MAX_NAME_LENGTH = 40;
const PARTS = ["params", "querystring", "body"] as const;

/** Everything that the schemas find wrong with path, query and body together. */
export function findMistakes(request: FastifyRequest): FieldError[] {
  const values = { params: request.params, querystring: request.query, body: request.body };
  const errors = [...((request.query as Query)[QUERY_ERRORS] ?? [])];
  for (const part of PARTS) {
    const validate = request.getValidationFunction(part);
    if (validate === undefined || validate(values[part]) === true) continue;
    const found = (validate.errors ?? []) as Found[];
    errors.push(...found.filter(({ propertyName }) => propertyName === undefined).map(explain));
  }
  const seen = new Set<string>();
  return errors.filter(({ field }) => !seen.has(field) && seen.add(field)).slice(0, MAX_MISTAKES);
}

function explain({ instancePath, keyword, params }: Found): FieldError {
  const path = instancePath
    .split("/")
    .slice(1)
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
  if (keyword === "required") path.push(String(params["missingProperty"]));
  if (keyword === "propertyNames") path.push(String(params["propertyName"]));
  const field = path.length === 0 ? "body" : path.map(shownName).join(".");
  const { code, text } = reasonOf(keyword, params);
  return { field, code, message: `${field} ${text}.` };
}

function shownName(name: string): string {
  return Array.from(name).slice(0, MAX_NAME_LENGTH).join("").toWellFormed();
}

const NAME = "must have a key of 1 to 40 letters, digits, _, - and ., which begins with a letter or digit";

function reasonOf(keyword: string, params: Readonly<Record<string, unknown>>): { code: string; text: string } {
  switch (keyword) {
    case "x-check":
      return { code: String(params["code"]), text: String(params["text"]) };
    case "required":
      return { code: "required", text: "is required" };
    case "enum":
      return { code: "unknown_value", text: `must be one of ${[params["allowedValues"]].flat().join(", ")}` };
    case "maxProperties":
      return { code: "too_many", text: `must have at most ${String(params["limit"])} members` };
    case "propertyNames":
      return { code: "malformed", text: NAME };
    case "type":
      return { code: "wrong_type", text: `must be of type ${[params["type"]].flat().join(" or ")}` };
    default:
      return { code: "malformed", text: "is not valid" };
  }
}
