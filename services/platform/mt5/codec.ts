import { badAnswer } from "./errors.ts";
import { isJsonObject, type JsonObject, type JsonValue, readJson } from "./http/json.ts";

/** An answer whose form is as documented; the code may still be a refusal. */
export type Envelope = {
  readonly code: number;
  readonly text: string;
  readonly answer: JsonValue | undefined;
  /** The whole document: some commands put members beside `answer`. */
  readonly members: JsonObject;
};

export type ReadEnvelope =
  | { readonly kind: "read"; readonly envelope: Envelope }
  | { readonly kind: "unparsable" }
  | { readonly kind: "contradictory" };

/** The documented form of a return code: a plain number, a space and a text. */
const RETCODE = /^(0|[1-9]\d{0,8}) (.*\S.*)$/s;
// oxlint-disable-next-line no-control-regex -- these characters are what is looked for
const RAW_CONTROL = /[\u0000-\u001f]/g;
/** Characters that are escaped with a backslash in the value of a parameter. */
const ESCAPED = /[\\=|\n]/g;
const NOT_LEFT_BY_URI_ENCODING = /[!'()*]/g;

/** First the platform's own escape, then percent-encoding; never a plus for a space. */
export function encodeValue(value: string): string {
  return encodeURIComponent(value.toWellFormed().replaceAll(ESCAPED, String.raw`\$&`)).replaceAll(
    NOT_LEFT_BY_URI_ENCODING,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

export function encodeQuery(parameters: Readonly<Record<string, string>>): string {
  return Object.entries(parameters)
    .map(([name, value]) => `${name}=${encodeValue(value)}`)
    .join("&");
}

/** Never throws: a malformed body is a result of its own kind. */
export function readEnvelope(body: Uint8Array): ReadEnvelope {
  return readText(decodeUtf8(body));
}

function readText(text: string | undefined): ReadEnvelope {
  const document = text === undefined ? undefined : readJson(text);
  if (!isJsonObject(document)) return { kind: "unparsable" };
  if (isContradictory(document, "retcode") || isContradictory(document, "answer")) return { kind: "contradictory" };
  const retcode = document.get("retcode")?.[0];
  const [, code, message] = (typeof retcode === "string" && RETCODE.exec(retcode)) || [];
  if (code === undefined || message === undefined) return { kind: "contradictory" };
  const answer = document.get("answer")?.[0];
  return { kind: "read", envelope: { code: Number(code), text: message, answer, members: document } };
}

/**
 * For reads: a malformed answer throws a bad_answer. Bytes that are not UTF-8 and control characters, which dealers and other
 * programs put into comments, are replaced: they must not hide the other rows of a list. Answers to commands are read without that.
 */
export function requireEnvelope(body: Uint8Array): Envelope {
  const exact = readEnvelope(body);
  const read = exact.kind === "unparsable" ? readText(readableText(body)) : exact;
  if (read.kind !== "read") throw badAnswer(`the platform's answer is ${read.kind}`);
  return read.envelope;
}

/** Two members of one name with different values; structures are not compared, so two of them always differ. */
export function isContradictory(object: JsonObject, name: string): boolean {
  const values = object.get(name) ?? [];
  return values.some((value) => value !== values[0]);
}

/** Outside of texts, control characters are white space. */
function readableText(body: Uint8Array): string {
  return new TextDecoder("utf-8").decode(body).replaceAll(RAW_CONTROL, " ");
}

function decodeUtf8(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    return undefined;
  }
}
