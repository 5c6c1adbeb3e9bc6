import { gunzipSync, inflateRawSync, inflateSync } from "node:zlib";

export type HttpAnswer = {
  readonly status: number;
  /** Names in lower case, every value in order. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly body: Uint8Array;
  /** Whether another request may follow on the connection. */
  readonly keepsAlive: boolean;
};

/** Why nothing was written: the connection had ended, it was not signed in, the permit had expired, or the free margin could not be read. */
export type NotSentReason = "closed" | "unauthenticated" | "not_permitted" | "margin_unknown";
/** Why a written request has no answer. The connection was reset in each case. */
export type LossReason = "timeout" | "connection_lost" | "protocol_violation";

/**
 * The result of one request. `not_sent` guarantees that not one byte was handed to the socket. After `lost` no byte of
 * the request is left to be sent, neither in this process nor in its operating system; after `answered` the server has
 * read the whole request.
 */
export type Exchanged =
  | { readonly kind: "answered"; readonly answer: HttpAnswer }
  | { readonly kind: "not_sent"; readonly reason: NotSentReason }
  | { readonly kind: "lost"; readonly reason: LossReason };

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
const CHUNK_LINE = /^([0-9A-Fa-f]{1,8})[ \t]*(?:;.*)?$/;

class Violation extends Error {}

type Part<Result> = Generator<undefined, Result, undefined>;

/** Takes bytes in portions of any size until one whole answer has been read. A single byte after the answer is a violation. */
export class AnswerReader {
  #pending: Buffer = Buffer.alloc(0);
  #hasEnded = false;
  /** Yields while it needs more bytes. */
  readonly #answer = this.#readAnswer();

  push(bytes: Buffer): Reading {
    this.#pending = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes]);
    return this.#read();
  }

  /** The server has ended the connection: that completes an answer without a length. */
  end(): Reading {
    this.#hasEnded = true;
    const reading = this.#read();
    return reading.kind === "more" ? { kind: "violation" } : reading;
  }

  #read(): Reading {
    try {
      const { done, value } = this.#answer.next();
      return done === true ? { kind: "done", answer: value } : { kind: "more" };
    } catch (error) {
      if (error instanceof Violation) return { kind: "violation" };
      throw error;
    }
  }

  *#readAnswer(): Part<HttpAnswer> {
    const head = parseHead(yield* this.#readUntil(END_OF_HEAD, MAX_HEAD_BYTES));
    const { status, headers } = head;
    const framing = framingOf(head);
    // The head does not say where such a body ends: it is not read.
    if (framing === "none") return { status, headers, body: Buffer.alloc(0), keepsAlive: false };
    const parts = yield* this.#readBody(framing);
    if (this.#pending.length > 0) throw new Violation();
    const body = decodeContent(Buffer.concat(parts), encodingOf(head));
    return { status, headers, body, keepsAlive: framing !== "close" && keepsAlive(head) };
  }

  /** Text up to a mark, without it. */
  *#readUntil(mark: string, maxBytes: number): Part<string> {
    for (;;) {
      const end = this.#pending.indexOf(mark);
      if ((end < 0 ? this.#pending.length : end) > maxBytes) throw new Violation();
      if (end >= 0) return this.#take(end + mark.length).toString("latin1", 0, end);
      yield;
    }
  }

  *#readBody(framing: Exclude<Framing, "none">): Part<Buffer[]> {
    if (framing === "chunked") return yield* this.#readChunks();
    return framing === "close" ? yield* this.#readToEnd() : yield* this.#readBytes(framing);
  }

  *#readBytes(count: number): Part<Buffer[]> {
    const parts: Buffer[] = [];
    for (let left = count; left > 0;) {
      if (this.#pending.length === 0) yield;
      const part = this.#take(left);
      parts.push(part);
      left -= part.length;
    }
    return parts;
  }

  *#readToEnd(): Part<Buffer[]> {
    const parts: Buffer[] = [];
    for (let total = 0; ;) {
      total += this.#pending.length;
      if (total > MAX_BODY_BYTES) throw new Violation();
      parts.push(this.#take(this.#pending.length));
      if (this.#hasEnded) return parts;
      yield;
    }
  }

  *#readChunks(): Part<Buffer[]> {
    const parts: Buffer[] = [];
    for (let [chunks, total] = [1, 0]; ; chunks += 1) {
      const line = yield* this.#readUntil(CRLF, MAX_CHUNK_LINE_BYTES);
      const size = Number.parseInt(CHUNK_LINE.exec(line)?.[1] ?? "", 16);
      total += size;
      if (Number.isNaN(size) || total > MAX_BODY_BYTES || chunks > MAX_CHUNKS) throw new Violation();
      if (size === 0) break;
      for (const part of yield* this.#readBytes(size)) parts.push(part);
      if ((yield* this.#readUntil(CRLF, MAX_CHUNK_LINE_BYTES)) !== "") throw new Violation();
    }
    for (let trailerBytes = 0; trailerBytes <= MAX_HEAD_BYTES;) {
      const line = yield* this.#readUntil(CRLF, MAX_CHUNK_LINE_BYTES);
      if (line === "") return parts;
      trailerBytes += line.length;
    }
    throw new Violation();
  }

  #take(maxBytes: number): Buffer {
    const taken = this.#pending.subarray(0, maxBytes);
    this.#pending = this.#pending.subarray(taken.length);
    return taken;
  }
}

type Head = {
  readonly version: string;
  readonly status: number;
  readonly headers: ReadonlyMap<string, readonly string[]>;
};

function keepsAlive({ version, headers }: Head): boolean {
  const connection = headers.get("connection")?.join() ?? "";
  if (/\bclose\b/i.test(connection)) return false;
  return version === "1.1" || /\bkeep-alive\b/i.test(connection);
}

const STATUS_LINE = /^HTTP\/(1\.[01]) ([2-5]\d\d)(?: [^\r\n]*)?$/;
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\r\n]*?)[ \t]*$/;

function parseHead(text: string): Head {
  const [statusLine = "", ...lines] = text.split(CRLF);
  const [, version, status] = STATUS_LINE.exec(statusLine) ?? [];
  if (version === undefined) throw new Violation();
  const headers = new Map<string, string[]>();
  for (const line of lines) {
    const [, name, value] = HEADER.exec(line) ?? [];
    if (name === undefined || value === undefined) throw new Violation();
    headers.set(name.toLowerCase(), [...(headers.get(name.toLowerCase()) ?? []), value]);
  }
  return { version, status: Number(status), headers };
}

/**
 * The length of the body, or what ends it. `close`: the end of the connection; only complete JSON is read from such a body, so a cut one is no
 * answer. `none`: the same for any status but 200.
 */
type Framing = number | "chunked" | "close" | "none";

/** Two framings of one answer allow response smuggling and are refused, as is an encoding that cannot be decoded. */
function framingOf(head: Head): Framing {
  const [length, ...others] = head.headers.get("content-length") ?? [];
  const transfer = head.headers.get("transfer-encoding")?.join().toLowerCase();
  if (!ENCODINGS.has(encodingOf(head)) || (transfer !== undefined && transfer !== "chunked")) throw new Violation();
  if (length === undefined) return transfer ?? (head.status === 200 ? "close" : "none");
  const isRefused = transfer !== undefined || others.some((other) => other !== length) || !/^\d{1,8}$/.test(length);
  if (isRefused || Number(length) > MAX_BODY_BYTES) throw new Violation();
  return Number(length);
}

function encodingOf({ headers }: Head): string {
  return headers.get("content-encoding")?.join().toLowerCase() ?? "identity";
}

function decodeContent(body: Buffer, encoding: string): Buffer {
  const limits = { maxOutputLength: MAX_BODY_BYTES };
  // An answer without content, such as a refusal, may still name an encoding.
  if (encoding === "identity" || body.length === 0) return body;
  try {
    if (encoding !== "deflate") return gunzipSync(body, limits);
    // Some servers leave out the header that belongs to it.
    return isZlib(body) ? inflateSync(body, limits) : inflateRawSync(body, limits);
  } catch {
    // Not whole in this encoding, or too long when it is decoded.
    throw new Violation();
  }
}

function isZlib(body: Buffer): boolean {
  return body.length >= 2 && ((body[0] ?? 0) & 0x0f) === 8 && body.readUInt16BE(0) % 31 === 0;
}
