import fc from "fast-check";
import { expect, test } from "vitest";
import { createAnswerReader, MAX_CHUNKS, MAX_HEAD_BYTES, type Reading } from "./http-answer.ts";

const read = (text: string | Buffer, sizes: readonly number[] = []): Reading => {
  const bytes = Buffer.isBuffer(text) ? text : Buffer.from(text, "latin1");
  const reader = createAnswerReader();
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

test("an answer is read the same in portions of any size down to one byte", () => {
  for (const text of [PLAIN, CHUNKED]) {
    expect(
      bodyOf(
        read(
          text,
          Array.from(text, () => 1),
        ),
      ),
    ).toBe('{"retcode":"0 Done"}');
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 40 }), (sizes) => {
        expect(bodyOf(read(text, sizes))).toBe('{"retcode":"0 Done"}');
      }),
    );
  }
});

test("an answer is not complete before its last byte", () => {
  for (const text of [PLAIN, CHUNKED]) {
    for (let length = 0; length < text.length; length += 1) expect(read(text.slice(0, length)).kind).toBe("more");
  }
});

test("a single byte after the answer is a violation, and so is another whole answer", () => {
  for (const text of [PLAIN, CHUNKED]) {
    expect(read(`${text}\n`).kind).toBe("violation");
    expect(read(text + PLAIN).kind).toBe("violation");
  }
});

test("a malformed HTTP/1.1 answer is a violation", () => {
  const heads = [
    "HTTP/1.1 200 OK\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n",
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

test("the reader never throws", () => {
  const pieces = fc.array(
    fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.constantFrom(PLAIN, CHUNKED, "\r\n", "HTTP/1.1 200 OK\r\n").map((text) => Buffer.from(text)),
    ),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(pieces, (chunks) => {
      const reader = createAnswerReader();
      for (const chunk of chunks) if (reader.push(Buffer.from(chunk)).kind !== "more") break;
    }),
    { numRuns: 1_000 },
  );
});
