import ajvCompiler from "@fastify/ajv-compiler";
import serializerCompiler from "@fastify/fast-json-stringify-compiler";
import type { FastifySchemaCompiler, FastifySerializerCompiler } from "fastify";
import { AJV } from "./validation.ts";

type Schema = object;
type Serializer = (value: unknown) => string;

/** The validator keeps what it has compiled, by schema. */
export const compileValidator: FastifySchemaCompiler<Schema> = ajvCompiler()({}, AJV);

const compile = serializerCompiler()({});
const compiled = new WeakMap<Schema, Serializer>();

/** Compiles each schema once in a process: the models of the API stand in many routes, and tests build many apps. */
export const compileSerializer: FastifySerializerCompiler<Schema> = (route) => {
  const serializer = compiled.get(route.schema) ?? compile({ ...route, httpStatus: route.httpStatus ?? "" });
  compiled.set(route.schema, serializer);
  return serializer;
};
