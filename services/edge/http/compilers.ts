import ajvCompiler from "@fastify/ajv-compiler";
import serializerCompiler from "@fastify/fast-json-stringify-compiler";
import type { FastifySchemaCompiler, FastifySerializerCompiler, FastifyServerOptions } from "fastify";
import { type CheckName, CHECKS, type Problem } from "../fields/checks.ts";
import { decimalText } from "../wire/json-body.ts";

type AjvOptions = NonNullable<FastifyServerOptions["ajv"]>;
type Ajv = Parameters<Extract<NonNullable<AjvOptions["plugins"]>[number], (...args: never[]) => unknown>>[0];
type Serializer = (value: unknown) => string;

/** Where the validator found a value. */
type Position = { readonly parentData: object; readonly parentDataProperty: string | number };
type CheckFunction = ((value: unknown, position?: Position) => boolean) & {
  errors?: { readonly keyword: string; readonly params: Problem }[];
};

/** Keeps what it has compiled, by schema. All mistakes are reported, and no value is changed. */
export const compileValidator: FastifySchemaCompiler<object> = ajvCompiler()(
  {},
  {
    customOptions: {
      coerceTypes: false,
      removeAdditional: false,
      useDefaults: false,
      // Harmless here: bodies are small and flat, and no schema has an expensive keyword.
      allErrors: true,
      allowUnionTypes: true,
    },
    plugins: [addChecks],
  },
);

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

const compile = serializerCompiler()({});
const compiled = new WeakMap<object, Serializer>();

/** Compiles each schema once in a process: the models of the API stand in many routes, and tests build many apps. */
export const compileSerializer: FastifySerializerCompiler<object> = (route) => {
  const serializer = compiled.get(route.schema) ?? compile({ ...route, httpStatus: route.httpStatus ?? "" });
  compiled.set(route.schema, serializer);
  return serializer;
};
