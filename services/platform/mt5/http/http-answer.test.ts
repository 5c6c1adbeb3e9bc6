import { deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { AnswerReader, MAX_BODY_BYTES, MAX_CHUNKS, MAX_HEAD_BYTES, type Reading } from "./http-answer.ts";

const read = (text: string | Buffer, sizes: readonly number[] = []): Reading => {
  const bytes = Buffer.isBuffer(text) ? text : Buffer.from(text, "latin1");
  const reader = new AnswerReader();
  let at = 0;
  let reading: Reading = { kind: "more" };
  for (const size of [...sizes, bytes.length]) {
    if (at >= bytes.length || reading.kind !== "more") break;
    reading = reader.push(bytes.subarray(at, at + size));
    at += size;
  }
  return reading;
};
const bodyOf = (reading: Reading): string | undefined =>
  reading.kind === "done" ? Buffer.from(reading.answer.body).toString("utf8") : undefined;

const PLAIN = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{"retcode":"0 Done"}';
const CHUNKED =
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\n{"ret\r\nF\r\ncode":"0 Done"}\r\n0\r\nTrailer: x\r\n\r\n';

test("an answer with a length and a chunked one are read whole", () => {
  expect(read(PLAIN)).toMatchObject({ kind: "done", answer: { status: 200, keepsAlive: true } });
  expect(bodyOf(read(PLAIN))).toBe('{"retcode":"0 Done"}');
  expect(bodyOf(read(CHUNKED))).toBe('{"retcode":"0 Done"}');
});

test("a single byte after the answer is a violation, and so is another whole answer", () => {
  for (const text of [PLAIN, CHUNKED]) {
    expect(read(`${text}\n`).kind).toBe("violation");
    expect(read(text + PLAIN).kind).toBe("violation");
  }
});

test("a malformed HTTP/1.1 answer is a violation", () => {
  const heads = [
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 2\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip\r\nContent-Length: 2\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 0x2\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 2,2\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n folded\r\n\r\n",
    "HTTP/1.1 200 OK\nContent-Length: 2\r\n\r\n",
    "HTTP/1.1 100 Continue\r\n\r\n",
    "HTTP/2 200\r\nContent-Length: 2\r\n\r\n",
    "HTTP/1.1 20 OK\r\nContent-Length: 2\r\n\r\n",
    "ICY 200 OK\r\n\r\n",
    "\r\n\r\n",
  ];
  for (const head of heads) expect(read(`${head}{}`).kind, head).toBe("violation");
  const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const body of ["x\r\n", "-1\r\n", "2\r\n{}x\r\n", "fffffffff\r\n", "ffffffff\r\n", `${"1".repeat(300)}`]) {
    expect(read(chunked + body).kind, body).toBe("violation");
  }
});

test("a head without an end is a violation above the maximum length", () => {
  expect(read(`HTTP/1.1 200 OK\r\nX: ${"a".repeat(MAX_HEAD_BYTES)}`).kind).toBe("violation");
  expect(read(`HTTP/1.1 200 OK\r\nX: ${"a".repeat(MAX_HEAD_BYTES)}\r\nContent-Length: 0\r\n\r\n`).kind).toBe(
    "violation",
  );
});

test("a trailer is a violation above the maximum length", () => {
  const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n";
  const longest = `${"a".repeat(256)}\r\n`.repeat(MAX_HEAD_BYTES / 256);
  expect(read(`${chunked}${longest}\r\n`).kind).toBe("done");
  expect(read(`${chunked}${longest}a\r\n\r\n`).kind).toBe("violation");
});

test("an error status without a length is read without its body and ends the connection", () => {
  expect(read("HTTP/1.1 403 Forbidden\r\n\r\n403 Forbidden")).toMatchObject({
    kind: "done",
    answer: { status: 403, keepsAlive: false },
  });
});

test("an answer without a length ends with the connection, in portions of any size", () => {
  const open = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{"retcode":"0 Done"}';
  for (const size of [1, 7, open.length]) {
    const reader = new AnswerReader();
    for (let at = 0; at < open.length; at += size) {
      expect(reader.push(Buffer.from(open.slice(at, at + size))).kind).toBe("more");
    }
    const reading = reader.end();
    expect(reading).toMatchObject({ kind: "done", answer: { status: 200, keepsAlive: false } });
    expect(bodyOf(reading)).toBe('{"retcode":"0 Done"}');
  }
});

test("the end of the connection completes no answer with a length, and no head", () => {
  for (const text of [PLAIN, CHUNKED, "HTTP/1.1 200 OK\r\nX: y"]) {
    const reader = new AnswerReader();
    reader.push(Buffer.from(text.slice(0, -1)));
    expect(reader.end().kind).toBe("violation");
  }
});

test("a body without a length is a violation above the maximum", () => {
  const reader = new AnswerReader();
  reader.push(Buffer.from("HTTP/1.1 200 OK\r\n\r\n"));
  expect(reader.push(Buffer.alloc(MAX_BODY_BYTES)).kind).toBe("more");
  expect(reader.push(Buffer.alloc(1)).kind).toBe("violation");
});

const encoded = (encoding: string, body: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`HTTP/1.1 200 OK\r\nContent-Encoding: ${encoding}\r\nContent-Length: ${body.length}\r\n\r\n`),
    body,
  ]);

test("a compressed answer is decoded, with a length and in chunks", () => {
  const text = '{"retcode":"0 Done"}';
  expect(bodyOf(read(encoded("gzip", gzipSync(text))))).toBe(text);
  expect(bodyOf(read(encoded("GZIP", gzipSync(text)), [1, 5, 9]))).toBe(text);
  expect(bodyOf(read(encoded("deflate", deflateSync(text))))).toBe(text);
  expect(bodyOf(read(encoded("deflate", deflateRawSync(text))))).toBe(text);
  const packed = gzipSync(text);
  const chunked = Buffer.concat([
    Buffer.from("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"),
    Buffer.from(`${packed.length.toString(16)}\r\n`),
    packed,
    Buffer.from("\r\n0\r\n\r\n"),
  ]);
  expect(bodyOf(read(chunked))).toBe(text);
});

test("a compressed answer that is damaged, cut or too long when it is decoded is a violation", () => {
  const packed = gzipSync('{"retcode":"0 Done"}');
  expect(read(encoded("gzip", packed.subarray(0, -4))).kind).toBe("violation");
  expect(read(encoded("gzip", Buffer.from("{}"))).kind).toBe("violation");
  expect(read(encoded("gzip", gzipSync(Buffer.alloc(MAX_BODY_BYTES + 1)))).kind).toBe("violation");
});

test("an answer of HTTP/1.0 keeps the connection alive only when it says so", () => {
  const old = (head: string) => read(`HTTP/1.0 200 OK\r\n${head}Content-Length: 2\r\n\r\n{}`);
  expect(old("")).toMatchObject({ kind: "done", answer: { keepsAlive: false } });
  expect(old("Connection: keep-alive\r\n")).toMatchObject({ kind: "done", answer: { keepsAlive: true } });
});

test("an answer with connection close does not keep the connection alive", () => {
  const closing = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}";
  expect(read(closing)).toMatchObject({ kind: "done", answer: { keepsAlive: false } });
});

test("a body of many megabytes in small portions is read in time", () => {
  const size = 20 * 1024 * 1024;
  const answer = Buffer.concat([
    Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`),
    Buffer.alloc(size, 0x61),
  ]);
  const reading = read(
    answer,
    Array.from({ length: size / 8_192 }, () => 8_192),
  );
  expect(reading.kind === "done" && reading.answer.body.length).toBe(size);
});

test("chunks of single bytes are read up to the maximum number", () => {
  const head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  const singleByteChunks = (count: number): string => "1\r\na\r\n".repeat(count);
  expect(bodyOf(read(`${head}${singleByteChunks(10_000)}0\r\n\r\n`))).toHaveLength(10_000);
  expect(read(head + singleByteChunks(MAX_CHUNKS)).kind).toBe("more");
  expect(read(head + singleByteChunks(MAX_CHUNKS + 1)).kind).toBe("violation");
});
