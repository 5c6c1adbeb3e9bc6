import type { FastifyInstance, FastifyRequest } from "fastify";
import { refuse } from "../problems/refusals.ts";
import { type ParsedJson, parseJson } from "../wire/json-body.ts";

/** Above the largest valid body: a Master whose texts have their maximum length, with each character escaped. */
export const MAX_BODY_BYTES = 64 * 1024;

/** Names that are shown of what a caller has sent: a header has a few kilobytes, and a caller who misspells one name needs one. */
const MAX_NAMES = 20;
const MAX_NAME_LENGTH = 64;

export function shownNames(names: readonly string[]): string[] {
  return names.slice(0, MAX_NAMES).map((name) => name.slice(0, MAX_NAME_LENGTH).toWellFormed());
}

/** Bodies are JSON, read so that numbers keep their digits. */
export function acceptJsonBodies(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addHook("preParsing", async (request) => {
    if (isEncoded(request.headers)) throw refuse("unsupported_media_type", NO_ENCODING);
  });
  scope.addContentTypeParser("application/json", { parseAs: "buffer" }, readBody);
}

async function readBody(request: FastifyRequest, bytes: Buffer): Promise<unknown> {
  const { value, duplicates } = readJson(request, bytes);
  refuseDuplicates(duplicates);
  return value;
}

/**
 * The parameters are in the query, and a JSON object may add labels. It is read whatever its media type is, and what cannot be read is refused: a
 * label is never lost. A body that says nothing is none.
 */
export function acceptOptionalBodies(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addHook("onRequest", (request, _reply, done) => {
    const { headers } = request;
    const hasBody = headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
    const [, charset = "utf-8"] = CHARSET.exec(headers["content-type"] ?? "") ?? [];
    // The framework would refuse a malformed media type before it chooses the parser.
    if (hasBody) headers["content-type"] = `application/json; charset=${charset}`;
    else delete headers["content-type"];
    done();
  });
  scope.addContentTypeParser("application/json", { parseAs: "buffer" }, readLabels);
}

async function readLabels(request: FastifyRequest, bytes: Buffer): Promise<unknown> {
  if (bytes.toString("utf8").trim() === "") return undefined;
  const { value, duplicates } = readJson(request, bytes);
  refuseDuplicates(duplicates.filter((path) => /^(?:external_id|metadata)(?:\.|$)/.test(path)));
  const saysNothing = value === null || value === "" || (Array.isArray(value) && value.length === 0);
  return saysNothing ? undefined : value;
}

const CHARSET = /;\s*charset\s*=\s*"?([\w.:-]+)/i;
const NO_ENCODING = "Content-Encoding is not supported. Send the body uncompressed.";

function readJson({ headers }: FastifyRequest, bytes: Buffer): ParsedJson {
  if (isEncoded(headers)) throw refuse("unsupported_media_type", NO_ENCODING);
  const [, charset = "utf-8"] = CHARSET.exec(headers["content-type"] ?? "") ?? [];
  // In another charset, only ASCII means the same.
  const isReadable = /^utf-?8$/i.test(charset) || bytes.every((byte) => byte < 0x80);
  const parsed = isReadable ? parseJson(bytes) : undefined;
  if (parsed === undefined) throw refuse("malformed_json", "The request body is not valid JSON in UTF-8.");
  return parsed;
}

function isEncoded(headers: FastifyRequest["headers"]): boolean {
  return (headers["content-encoding"] ?? "identity") !== "identity";
}

function refuseDuplicates(names: readonly string[]): void {
  if (names.length === 0) return;
  const errors = shownNames(names).map((field) => {
    return { field, code: "duplicate_member", message: `${field} must not be given more than once.` };
  });
  throw refuse("validation_failed", "The request body has members more than once.", { errors });
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
