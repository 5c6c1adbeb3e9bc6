import type { FastifyInstance } from "fastify";
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

function duplicated(names: readonly string[]): Refusal {
  const errors = names.slice(0, MAX_NAMES).map((name) => {
    const field = name.slice(0, MAX_NAME_LENGTH).toWellFormed();
    return { field, code: "duplicate_member", message: `${field} must not be given more than once.` };
  });
  return refuse("validation_failed", "The request body has members more than once.", { errors });
}

/** A body is read up to the limit, and ignored. */
export function ignoreBodies(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addHook("onRequest", (request, _reply, done) => {
    // The framework would refuse a malformed media type before it chooses the parser.
    delete request.headers["content-type"];
    done();
  });
  scope.addContentTypeParser("*", { parseAs: "buffer" }, (_request, _bytes, done) => done(null, undefined));
}
