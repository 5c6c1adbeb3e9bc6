import type { components, operations } from "./gen/openapi.ts";
import type { OPERATIONS } from "./gen/operations.ts";

/** The models of the OpenAPI document, such as `Models["Master"]`. */
export type Models = components["schemas"];

export type OperationId = keyof operations & keyof typeof OPERATIONS;

/** Operations that only read. */
export type QueryId = {
  [Id in OperationId]: (typeof OPERATIONS)[Id]["method"] extends "GET" ? Id : never;
}[OperationId];

/** Operations that change something. */
export type CommandId = Exclude<OperationId, QueryId>;

type Parameters<Id extends OperationId> = operations[Id]["parameters"];
type JsonOf<Content> = Content extends { content: { "application/json": infer Body } } ? Body : undefined;

/** Undefined is one of them where the body may be omitted. */
type BodyOf<Id extends OperationId> = operations[Id] extends { requestBody: infer Body }
  ? JsonOf<Body>
  : operations[Id] extends { requestBody?: infer Body }
    ? JsonOf<Exclude<Body, undefined>> | undefined
    : undefined;

/** Required, optional or absent, as the part of the request is. */
type Part<Name extends string, Value> = [Value] extends [undefined]
  ? unknown
  : undefined extends Value
    ? { readonly [Key in Name]?: Exclude<Value, undefined> }
    : { readonly [Key in Name]: Value };

export type Input<Id extends OperationId> = Part<"path", Parameters<Id>["path"]> &
  Part<"query", Parameters<Id>["query"]> &
  Part<"body", BodyOf<Id>>;

/** The arguments after the name of the operation; the input may be omitted when nothing in it is required. */
export type Arguments<Id extends OperationId, Options> =
  Record<never, never> extends Input<Id>
    ? [input?: Input<Id>, options?: Options]
    : [input: Input<Id>, options?: Options];

type Responses<Id extends OperationId> = operations[Id]["responses"];

/** The body of a success. */
export type Answer<Id extends OperationId> = {
  [Status in keyof Responses<Id>]: Status extends 200 | 201 | 202 ? JsonOf<Responses<Id>[Status]> : never;
}[keyof Responses<Id>];

type ProblemIn<Content> = Content extends { content: { "application/problem+json": infer Body } } ? Body : never;

/** The problems of an operation; `code` decides which members there are. Expect codes that this version does not know. */
export type ProblemOf<Id extends OperationId> = {
  [Status in keyof Responses<Id>]: ProblemIn<Responses<Id>[Status]>;
}[keyof Responses<Id>];

export type AnyProblem = { [Id in OperationId]: ProblemOf<Id> }[OperationId];

/** Queries whose answer is a page of a longer list. */
export type PagedId = {
  [Id in QueryId]: Answer<Id> extends { items: readonly unknown[]; has_more: boolean } ? Id : never;
}[QueryId];

export type Item<Id extends PagedId> = Answer<Id> extends { items: readonly (infer One)[] } ? One : never;
