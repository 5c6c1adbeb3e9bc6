import type { Document, Json } from "./document.ts";

/**
 * The document with every object closed. It leaves objects open, because members may be added in any release; to the
 * server of the same version a member that it does not declare is a defect.
 */
export function closedDocument(document: Document): Document {
  return closed(document, false) as Document;
}

/** The parts of an allOf see the members of each other as unknown, so only the whole is closed. */
function closed(value: unknown, isPart: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => closed(item, isPart));
  if (typeof value !== "object" || value === null) return value;
  const node = value as Json;
  const copy = Object.fromEntries(
    Object.entries(node)
      // Examples and constants are data, not schemas.
      .filter(([name]) => name !== "examples" && name !== "example")
      .map(([name, child]) => [name, closed(child, name === "allOf")]),
  );
  const isOpenObject = "allOf" in node || (node["type"] === "object" && isSchemaWithMembers(node));
  return isOpenObject && !isPart && !isBase(node) ? { ...copy, unevaluatedProperties: false } : copy;
}

function isSchemaWithMembers(node: Json): boolean {
  return typeof node["properties"] === "object" && !("additionalProperties" in node);
}

/** The members that all problems have. Those of one code are added to them. */
function isBase({ properties }: Json): boolean {
  return typeof properties === "object" && properties !== null && "instance" in properties;
}
