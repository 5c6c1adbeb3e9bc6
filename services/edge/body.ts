import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Refusal } from "#kernel/refusal.ts";
import { refuse } from "./problems/refusals.ts";
import { parseJson } from "./wire/json-body.ts";

/** Above the largest valid body: a Master whose texts have their maximum length, with each character escaped. */
export const MAX_BODY_BYTES = 64 * 1024;

/** Names that are shown of duplicate members. */
const MAX_NAMES = 20;
const MAX_NAME_LENGTH = 64;

/** Bodies are JSON, read so that numbers keep their digits. */
export function acceptJsonBodies(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addHook("preParsing", async (request) => {
    const encoding = request.headers["content-encoding"] ?? "identity";
    if (encoding !== "identity") {
      throw refuse("unsupported_media_type", "Content-Encoding is not supported. Send the body uncompressed.");
    }
  });
  scope.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, bytes, done) => {
    const parsed = parseJson(bytes as Buffer);
    if (parsed === undefined) done(refuse("malformed_json", "The request body is not valid JSON in UTF-8."), undefined);
    else if (parsed.duplicates.length > 0) done(duplicated(parsed.duplicates), undefined);
    else done(null, parsed.value);
  });
}

/**
 * A JSON object is read. Any other body is none, as of a route without a body: a client that sends one has its parameters in the query, and must
 * not be refused for what it was never asked for.
 */
export function acceptOptionalBodies(scope: FastifyInstance): void {
  ignoreBodies(scope, isJson);
  scope.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, bytes, done) => {
    const { value, duplicates: all = [] } = parseJson(bytes as Buffer) ?? {};
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    const duplicates = all.filter((path) => /^(?:external_id|metadata)(?:\.|$)/.test(path));
    if (isObject && duplicates.length > 0) done(duplicated(duplicates), undefined);
    else done(null, isObject ? value : undefined);
  });
}

function isJson({ headers }: Pick<FastifyRequest, "headers">): boolean {
  return (
    /^application\/json\s*(?:;|$)/i.test(headers["content-type"] ?? "") && headers["content-encoding"] === undefined
  );
}

function duplicated(names: readonly string[]): Refusal {
  const errors = names.slice(0, MAX_NAMES).map((name) => {
    const field = name.slice(0, MAX_NAME_LENGTH).toWellFormed();
    return { field, code: "duplicate_member", message: `${field} must not be given more than once.` };
  });
  return refuse("validation_failed", "The request body has members more than once.", { errors });
}

/** A body is read up to the limit, and ignored. */
export function ignoreBodies(
  scope: FastifyInstance,
  isRead: (request: Pick<FastifyRequest, "headers">) => boolean = () => false,
): void {
  scope.removeAllContentTypeParsers();
  scope.addHook("onRequest", (request, _reply, done) => {
    // The framework would refuse a malformed media type before it chooses the parser.
    if (isRead(request)) request.headers["content-type"] = "application/json";
    else delete request.headers["content-type"];
    done();
  });
  scope.addContentTypeParser("*", { parseAs: "buffer" }, (_request, _bytes, done) => done(null, undefined));
}
