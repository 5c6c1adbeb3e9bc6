import { gunzipSync } from "node:zlib";

/**
 * The meaning of an answer to a command that moves money, written from the protocol documents and not from the adapter. It
 * reads all bytes at once with the JSON parser of the runtime, and scans the tokens for duplicate members, which the parser
 * drops. An answer that is not clearly "applied" or "refused" is ambiguous.
 */
export type Verdict =
  | { readonly kind: "applied"; readonly ticket: bigint }
  | { readonly kind: "refused"; readonly code: number }
  | { readonly kind: "ambiguous" };

const AMBIGUOUS: Verdict = { kind: "ambiguous" };
const APPLIED = new Set([0, 10009]);
/** Codes of the handshake, which precedes every command. */
const HANDSHAKE_CODES = [
  1000, 1001, 1002, 1003, 1004, 1005, 1006, 1010, 1011, 1012, 1018, 1020, 1024, 1026, 1027, 1028, 1034,
];
const REFUSED = new Set([3, 8, 12, 13, 4005, 10019, ...HANDSHAKE_CODES]);
const MAX_INT64 = 2n ** 63n - 1n;

/** Takes all bytes that the platform sent on the connection after the request; `isEnded` = and then it closed the connection. */
export function verdictOf(bytes: Buffer, isEnded = false): Verdict {
  const body = bodyOf(bytes, isEnded);
  if (body === undefined) return AMBIGUOUS;
  const members = membersOf(body);
  if (members === undefined) return AMBIGUOUS;
  const code = codeOf(members);
  if (code === undefined) return AMBIGUOUS;
  const tickets = members.filter(({ name }) => name === "ticket").map(({ value }) => value);
  if (REFUSED.has(code)) {
    return tickets.every((ticket) => ticket === "0") ? { kind: "refused", code } : AMBIGUOUS;
  }
  const [ticket] = tickets;
  if (!APPLIED.has(code) || ticket === undefined || !/^[1-9]\d*$/.test(ticket)) return AMBIGUOUS;
  const number = BigInt(ticket);
  return tickets.every((other) => other === ticket) && number <= MAX_INT64
    ? { kind: "applied", ticket: number }
    : AMBIGUOUS;
}

/** The body of exactly one whole answer with status 200; undefined for anything else. */
function bodyOf(bytes: Buffer, isEnded: boolean): Buffer | undefined {
  const text = bytes.toString("latin1");
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [status = "", ...lines] = text.slice(0, end).split("\r\n");
  if (!/^HTTP\/1\.[01] 200( |$)/.test(status)) return undefined;
  const headers = lines.map((line) => /^([^\s:]+):(.*)$/s.exec(line));
  if (headers.includes(null)) return undefined;
  const valuesOf = (name: string): string[] =>
    headers.filter((header) => header?.[1]?.toLowerCase() === name).map((header) => header?.[2]?.trim() ?? "");
  const framed = unframed(text.slice(end + 4), valuesOf, isEnded);
  return framed && decoded(framed, valuesOf("content-encoding"));
}

function unframed(rest: string, valuesOf: (name: string) => string[], isEnded: boolean): Buffer | undefined {
  const lengths = valuesOf("content-length");
  const codings = valuesOf("transfer-encoding");
  if (codings.length > 0) {
    return codings.join(",").toLowerCase() === "chunked" && lengths.length === 0 ? dechunked(rest) : undefined;
  }
  const isWhole =
    (lengths.length > 0 || isEnded) &&
    lengths.every((length) => /^\d+$/.test(length) && Number(length) === rest.length);
  return isWhole ? Buffer.from(rest, "latin1") : undefined;
}

function decoded(body: Buffer, codings: readonly string[]): Buffer | undefined {
  const [coding = "identity", ...others] = codings.map((each) => each.toLowerCase());
  if (others.length > 0) return undefined;
  try {
    if (coding === "identity") return body;
    if (coding === "gzip" || coding === "x-gzip") return gunzipSync(body);
    return undefined;
  } catch {
    return undefined;
  }
}

function dechunked(text: string): Buffer | undefined {
  let body = "";
  let rest = text;
  for (;;) {
    const [line, digits] = /^([0-9A-Fa-f]+)[ \t]*(?:;[^\r\n]*)?\r\n/.exec(rest) ?? [];
    if (line === undefined || digits === undefined) return undefined;
    const size = Number.parseInt(digits, 16);
    rest = rest.slice(line.length);
    if (size === 0) return /^(?:(?:(?!\r\n).)+\r\n)*\r\n$/s.test(rest) ? Buffer.from(body, "latin1") : undefined;
    if (rest.slice(size, size + 2) !== "\r\n") return undefined;
    body += rest.slice(0, size);
    rest = rest.slice(size + 2);
  }
}

/** One member of an object anywhere in the document; `value` is the text of a string or number, else undefined. */
type Member = { readonly name: string; readonly depth: number; readonly value: string | undefined };

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/gs;

function membersOf(body: Buffer): Member[] | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(body);
    const document: unknown = JSON.parse(text);
    return typeof document === "object" && document !== null && !Array.isArray(document) ? scan(text) : undefined;
  } catch {
    return undefined;
  }
}

/** The document is valid JSON, so a string is a name exactly when a colon follows it. */
function scan(text: string): Member[] {
  const tokens = Array.from(text.matchAll(TOKEN), ([token]) => token);
  const members: Member[] = [];
  let depth = 0;
  for (const [at, token] of tokens.entries()) {
    if (token === "{" || token === "[") depth += 1;
    if (token === "}" || token === "]") depth -= 1;
    if (tokens[at + 1] !== ":" || !token.startsWith('"')) continue;
    const name = (JSON.parse(token) as string).replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
    members.push({ name, depth, value: scalarOf(tokens[at + 2] ?? "") });
  }
  return members;
}

function scalarOf(token: string): string | undefined {
  if (token.startsWith('"')) return JSON.parse(token) as string;
  return /^-?\d/.test(token) ? token : undefined;
}

/** A retcode at the top of the document, as number and text, for example `0 Done`; all others must be equal to it. */
function codeOf(members: readonly Member[]): number | undefined {
  const [code, ...others] = members.filter(({ name }) => name === "retcode");
  if (code?.value === undefined || !members.some(({ name, depth }) => name === "retcode" && depth === 1)) {
    return undefined;
  }
  if (others.some(({ value }) => value !== code.value)) return undefined;
  const [, digits] = /^(0|[1-9]\d{0,8}) .*\S/s.exec(code.value) ?? [];
  return digits === undefined ? undefined : Number(digits);
}
