import { gunzipSync, inflateRawSync, inflateSync } from "node:zlib";
import type { HttpAnswer } from "./exchanged.ts";

/** Takes bytes in portions of any size until one whole answer has been read. */
export type AnswerReader = {
  readonly push: (bytes: Buffer) => Reading;
  /** The server has ended the connection: that completes an answer without a length. */
  readonly end: () => Reading;
};
export type Reading =
  | { readonly kind: "more" }
  | { readonly kind: "done"; readonly answer: HttpAnswer }
  /** The bytes are not one HTTP/1.1 answer; nothing on this connection can be trusted any more. */
  | { readonly kind: "violation" };

/** The limits of head and line are far above what a server sends: they bound the memory that a faulty one occupies. */
export const MAX_HEAD_BYTES = 16 * 1024;
/** Above the longest answer, a batch of deals without pages. */
export const MAX_BODY_BYTES = 32 * 1024 * 1024;
const MAX_CHUNK_LINE_BYTES = 256;
/** Each chunk is an object until the answer is whole: small chunks would exhaust the memory before MAX_BODY_BYTES. */
export const MAX_CHUNKS = 200_000;
/** Servers and proxies send these although none was asked for. */
const ENCODINGS = new Set(["identity", "gzip", "x-gzip", "deflate"]);
const CRLF = "\r\n";
const END_OF_HEAD = "\r\n\r\n";

/** Reads one part of the answer: asks for more bytes, or returns how many it took and the next part. */
type Part = (bytes: Buffer) => Progress;
type Progress =
  | Exclude<Reading, { kind: "done" }>
  | { readonly kind: "taken"; readonly count: number; readonly next: Part | "end" };

const MORE = { kind: "more" } as const;
const VIOLATION = { kind: "violation" } as const;

/** Bytes that are not exactly one answer are a violation, also a single byte after the answer. */
export function createAnswerReader(): AnswerReader {
  const body: Buffer[] = [];
  const whole = (rest: Buffer) => (isWhole(head, rest) ? done(head, body) : VIOLATION);
  let head: Head | undefined;
  let part: Part = readHead((parsed) => {
    head = parsed;
    return bodyPart(parsed, body);
  });
  let pending: Buffer = Buffer.alloc(0);

  return {
    push(bytes) {
      pending = pending.length === 0 ? bytes : Buffer.concat([pending, bytes]);
      for (;;) {
        const progress = part(pending);
        if (progress.kind !== "taken") return progress;
        pending = pending.subarray(progress.count);
        if (progress.next !== "end") part = progress.next;
        else return whole(pending);
      }
    },
    end: () => (head?.framing.kind === "close" ? whole(pending) : VIOLATION),
  };
}

type Head = {
  readonly version: string;
  readonly status: number;
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly framing: Framing;
};
type Framing =
  | { readonly kind: "length"; readonly bytes: number }
  | { readonly kind: "chunked" }
  /** The end of the connection ends the body. Only complete JSON is read from it, so a cut one is no answer. */
  | { readonly kind: "close" }
  /** The same for any status but 200: the body is not read. */
  | { readonly kind: "none" };

function isWhole(head: Head | undefined, rest: Buffer): head is Head {
  return head !== undefined && (rest.length === 0 || head.framing.kind === "none");
}

function done(head: Head, parts: readonly Buffer[]): Reading {
  const { status, headers } = head;
  const body = decodeContent(Buffer.concat(parts), encodingOf(headers));
  if (body === undefined) return VIOLATION;
  return { kind: "done", answer: { status, headers, body, keepsAlive: keepsAlive(head) } };
}

function keepsAlive({ version, headers, framing }: Head): boolean {
  const connection = headers.get("connection")?.join() ?? "";
  if (framing.kind === "none" || framing.kind === "close" || /\bclose\b/i.test(connection)) return false;
  return version === "1.1" || /\bkeep-alive\b/i.test(connection);
}

function readHead(next: (head: Head) => Part | "end"): Part {
  return (bytes) => {
    const end = bytes.indexOf(END_OF_HEAD);
    if (end < 0) return bytes.length > MAX_HEAD_BYTES ? VIOLATION : MORE;
    const head = end > MAX_HEAD_BYTES ? undefined : parseHead(bytes.subarray(0, end).toString("latin1"));
    return head === undefined ? VIOLATION : { kind: "taken", count: end + END_OF_HEAD.length, next: next(head) };
  };
}

const STATUS_LINE = /^HTTP\/(1\.[01]) ([2-5]\d\d)(?: [^\r\n]*)?$/;
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\r\n]*?)[ \t]*$/;

function parseHead(text: string): Head | undefined {
  const [statusLine = "", ...lines] = text.split(CRLF);
  const [, version, status] = STATUS_LINE.exec(statusLine) ?? [];
  const headers = new Map<string, string[]>();
  for (const line of lines) {
    const [, name, value] = HEADER.exec(line) ?? [];
    if (name === undefined || value === undefined) return undefined;
    headers.set(name.toLowerCase(), [...(headers.get(name.toLowerCase()) ?? []), value]);
  }
  if (version === undefined || status === undefined) return undefined;
  const framing = framingOf(Number(status), headers);
  return framing === undefined ? undefined : { version, status: Number(status), headers, framing };
}

/** Two framings of one answer allow response smuggling and are refused, as is an encoding that cannot be decoded. */
function framingOf(status: number, headers: ReadonlyMap<string, readonly string[]>): Framing | undefined {
  const lengths = headers.get("content-length") ?? [];
  const transfer = headers.get("transfer-encoding")?.join();
  if (!ENCODINGS.has(encodingOf(headers))) return undefined;
  if (transfer !== undefined) {
    return transfer.toLowerCase() === "chunked" && lengths.length === 0 ? { kind: "chunked" } : undefined;
  }
  const [length] = lengths;
  if (length === undefined) return { kind: status === 200 ? "close" : "none" };
  if (lengths.some((other) => other !== length) || !/^\d{1,8}$/.test(length)) return undefined;
  return Number(length) > MAX_BODY_BYTES ? undefined : { kind: "length", bytes: Number(length) };
}

function encodingOf(headers: Head["headers"]): string {
  return headers.get("content-encoding")?.join().toLowerCase() ?? "identity";
}

function bodyPart({ framing }: Head, body: Buffer[]): Part | "end" {
  switch (framing.kind) {
    case "none":
      return "end";
    case "close":
      return readToEnd(body, 0);
    case "length":
      return framing.bytes === 0 ? "end" : readBytes(framing.bytes, body, "end");
    case "chunked":
      return readChunkLine(body, { bytes: 0, chunks: 0 });
  }
}

function readBytes(count: number, body: Buffer[], next: Part | "end"): Part {
  return (bytes) => {
    if (bytes.length === 0) return MORE;
    const taken = bytes.subarray(0, count);
    body.push(taken);
    const left = count - taken.length;
    return { kind: "taken", count: taken.length, next: left === 0 ? next : readBytes(left, body, next) };
  };
}

function readToEnd(body: Buffer[], total: number): Part {
  return (bytes) => {
    if (bytes.length === 0) return MORE;
    const read = total + bytes.length;
    if (read > MAX_BODY_BYTES) return VIOLATION;
    body.push(bytes);
    return { kind: "taken", count: bytes.length, next: readToEnd(body, read) };
  };
}

const CHUNK_LINE = /^([0-9A-Fa-f]{1,8})[ \t]*(?:;.*)?$/;

type ReadSoFar = { readonly bytes: number; readonly chunks: number };

function readChunkLine(body: Buffer[], soFar: ReadSoFar): Part {
  return readLine((line) => {
    const size = Number.parseInt(CHUNK_LINE.exec(line)?.[1] ?? "", 16);
    const read = { bytes: soFar.bytes + size, chunks: soFar.chunks + 1 };
    if (Number.isNaN(size) || read.bytes > MAX_BODY_BYTES || read.chunks > MAX_CHUNKS) return undefined;
    if (size === 0) return readTrailer(0);
    return readBytes(
      size,
      body,
      readLine((rest) => (rest === "" ? readChunkLine(body, read) : undefined)),
    );
  });
}

function readTrailer(total: number): Part {
  return readLine((line) => {
    if (line === "") return "end";
    return total + line.length > MAX_HEAD_BYTES ? undefined : readTrailer(total + line.length);
  });
}

function readLine(next: (line: string) => Part | "end" | undefined): Part {
  return (bytes) => {
    const end = bytes.indexOf(CRLF);
    if (end < 0 ? bytes.length > MAX_CHUNK_LINE_BYTES : end > MAX_CHUNK_LINE_BYTES) return VIOLATION;
    if (end < 0) return MORE;
    const after = next(bytes.subarray(0, end).toString("latin1"));
    return after === undefined ? VIOLATION : { kind: "taken", count: end + CRLF.length, next: after };
  };
}

/** Undefined when the body is not whole in this encoding, or too long when it is decoded. */
function decodeContent(body: Buffer, encoding: string): Buffer | undefined {
  const limits = { maxOutputLength: MAX_BODY_BYTES };
  // An answer without content, such as a refusal, may still name an encoding.
  if (encoding === "identity" || body.length === 0) return body;
  try {
    if (encoding !== "deflate") return gunzipSync(body, limits);
    // Some servers leave out the header that belongs to it.
    return isZlib(body) ? inflateSync(body, limits) : inflateRawSync(body, limits);
  } catch {
    return undefined;
  }
}

function isZlib(body: Buffer): boolean {
  return body.length >= 2 && ((body[0] ?? 0) & 0x0f) === 8 && body.readUInt16BE(0) % 31 === 0;
}
