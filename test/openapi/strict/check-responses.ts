import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { closedDocument } from "./closed-document.ts";
import { type Document, type Json, placeOf, placesOf, resolved } from "./document.ts";

/** Headers of the API; those of HTTP itself need no declaration. */
const DECLARED = /^(?:x-(?!content-type-options$)|ratelimit|retry-after$|idempotency-)/;
const FORMATS = {
  int64: { type: "number", validate: Number.isInteger },
  date: /^\d{4}-\d{2}-\d{2}$/,
  email: /^\S+@\S+$/,
  uri: (text: string) => URL.canParse(text),
  "uri-reference": (text: string) => URL.canParse(text, "http://host"),
  uuid: /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/,
} as const;

export type Exchange = {
  readonly method: string;
  readonly pathname: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
};

export type ResponseChecks = {
  /** What the document does not permit; none when the response is as documented. */
  readonly complaints: (exchange: Exchange) => string[];
  /** Of all exchanges, each with its status: `depositFunds 200`. */
  readonly seen: ReadonlySet<string>;
};

/** Compares responses with the document: status, type, headers and every member, and none beside those. */
export function responseChecks(document: Document): ResponseChecks {
  // That it is a valid document is what the linters check.
  const ajv = new Ajv2020({ strict: false, validateSchema: false, allErrors: true, formats: { ...FORMATS } });
  ajv.addSchema({ $id: "document", ...closedDocument(document) });
  const places = placesOf(document);
  const validators = new Map<string, ValidateFunction>();
  const seen = new Set<string>();

  const validatorAt = (pointer: string): ValidateFunction => {
    const known = validators.get(pointer) ?? ajv.compile({ $ref: `document${pointer}` });
    validators.set(pointer, known);
    return known;
  };
  const complaints = ({ method, pathname, status, headers, text }: Exchange): string[] => {
    const place = placeOf(places, method, pathname);
    if (place === undefined) return [`${method} ${pathname} is no operation`];
    const { id, path } = place;
    seen.add(`${id} ${status}`);
    const declared = document.paths[path]?.[place.method]?.responses[status];
    if (declared === undefined) return [`${id} does not declare ${status}`];

    const own = `#/paths/${escaped(path)}/${place.method}/responses/${status}`;
    const { value: response, pointer = own } = resolved(document, declared);
    const known = Object.keys((response["headers"] ?? {}) as Json).map((name) => name.toLowerCase());
    const undeclared = [...headers.keys()].filter((name) => DECLARED.test(name) && !known.includes(name));
    const found = undeclared.map((name) => `${id} ${status} does not declare ${name}`);

    const type = headers.get("content-type")?.split(";")[0] ?? "none";
    const content = (response["content"] ?? {}) as Json;
    if (!(type in content)) return [...found, `${id} ${status} does not declare ${type}`];
    if (!type.endsWith("json")) return found;
    const validate = validatorAt(`${pointer}/content/${escaped(type)}/schema`);
    if (validate(JSON.parse(text))) return found;
    return [...found, ...(validate.errors ?? []).map((error) => `${id} ${status} ${described(error)}`)];
  };
  return { complaints, seen };
}

type Failure = NonNullable<ValidateFunction["errors"]>[number];

function described({ instancePath, message, params }: Failure): string {
  return `${instancePath === "" ? "/" : instancePath} ${message} ${JSON.stringify(params)}`;
}

/** As a part of a pointer in the fragment of an address. */
function escaped(part: string): string {
  return encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"));
}
