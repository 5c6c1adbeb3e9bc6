import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { listed } from "../support/fuzz.ts";

/** The answer of the platform in portions (one character is one byte), and the end of the connection. */
export type Sent = { readonly portions: readonly string[]; readonly end: "silence" | "close" };

const STATUS = fc.oneof(
  { weight: 12, arbitrary: fc.constant("HTTP/1.1 200 OK") },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ...listed(
        "HTTP/1.0 200 OK | HTTP/1.1 200 | HTTP/1.1 204 No Content | HTTP/1.1 302 Found | HTTP/1.1 403 Forbidden",
      ),
      ...listed("HTTP/1.1 500 Oops | HTTP/1.1 503 Busy | HTTP/1.1 100 Continue | HTTP/1.1 0200 OK | HTTP/2 200 OK"),
      ...listed("HTTP/1.1  200 OK | http/1.1 200 OK | ICY 200 OK | HTTP/1.1 200\u00a0OK | 200 OK | HTTP/1.1 2000 OK"),
      "HTTP/1.1 200 ",
      "",
    ),
  },
);

const HEADER = fc.constantFrom(
  ...listed("Content-Type: application/json | content-type: text/html | Server: x | Set-Cookie: a=b | Set-Cookie: ;=;"),
  ...listed("Connection: close | Connection: keep-alive | Content-Encoding: identity | Content-Encoding: gzip | : x"),
  ...listed("Transfer-Encoding: gzip, chunked | Transfer-Encoding: identity | Content-Length: 5 | Content-Length: -1"),
  ...listed("Content-Length: 0x10 | Content-Length: 1, 1 | Content-Length: | Content-Length : 3 |  folded | no colon"),
  ...listed("Location: /api/trade/balance | Upgrade: h2c | X: \u0000 | X: \r | Retry-After: 1"),
);

type Framing = "length" | "chunked" | "both" | "none" | "twice" | "shorter" | "longer" | "gzip";
const FRAMING: fc.Arbitrary<Framing> = fc.oneof(
  { weight: 8, arbitrary: fc.constant<Framing>("length") },
  { weight: 4, arbitrary: fc.constant<Framing>("chunked") },
  { weight: 2, arbitrary: fc.constantFrom<Framing>("both", "none", "twice", "shorter", "longer", "gzip") },
);

/** One answer with this body and valid or invalid framing. */
export function framed(body: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .record({
      status: STATUS,
      headers: fc.oneof(
        { weight: 3, arbitrary: fc.constant([]) },
        { weight: 1, arbitrary: fc.array(HEADER, { maxLength: 3 }) },
      ),
      framing: FRAMING,
      body,
      cuts: fc.array(fc.nat(200), { maxLength: 4 }),
    })
    .map(({ status, headers, framing, body: text, cuts }) => {
      const own = framedBy(framing, text, cuts);
      return `${[status, ...headers, ...own.headers].join("\r\n")}\r\n\r\n${own.body}`;
    });
}

/** One answer with valid framing. */
export function plainlyFramed(body: string, cuts: readonly number[] | undefined): string {
  const { headers, body: content } = framedBy(cuts === undefined ? "length" : "chunked", body, cuts ?? []);
  return `HTTP/1.1 200 OK\r\nServer: x\r\n${headers.join("\r\n")}\r\n\r\n${content}`;
}

function framedBy(framing: Framing, body: string, cuts: readonly number[]): { headers: string[]; body: string } {
  const length = `Content-Length: ${body.length}`;
  switch (framing) {
    case "length":
      return { headers: [length], body };
    case "chunked":
      return { headers: ["Transfer-Encoding: chunked"], body: chunked(body, cuts) };
    case "both":
      return { headers: ["Transfer-Encoding: chunked", length], body: chunked(body, cuts) };
    case "none":
      return { headers: [], body };
    case "twice":
      return { headers: [length, `Content-Length: ${body.length + (cuts[0] ?? 0)}`], body };
    case "shorter":
      return { headers: [`Content-Length: ${Math.max(0, body.length - 1 - (cuts[0] ?? 0))}`], body };
    case "longer":
      return { headers: [`Content-Length: ${body.length + 1 + (cuts[0] ?? 0)}`], body };
    case "gzip": {
      const zipped = gzipSync(Buffer.from(body, "latin1"), { level: 0 }).toString("latin1");
      return { headers: ["Content-Encoding: gzip", `Content-Length: ${zipped.length}`], body: zipped };
    }
  }
}

/** With extensions and trailers, which HTTP permits. */
function chunked(body: string, cuts: readonly number[]): string {
  const sorted = [0, ...cuts.map((cut) => Math.min(cut, body.length)), body.length].toSorted((a, b) => a - b);
  const pieces = sorted.slice(1).map((to, index) => body.slice(sorted[index], to));
  const parts = pieces.filter((piece) => piece !== "");
  const extension = cuts.length % 2 === 0 ? "" : ";x=y";
  const trailer = cuts.length % 3 === 2 ? "X-Trailer: 1\r\n" : "";
  return `${parts.map((part) => `${part.length.toString(16)}${extension}\r\n${part}\r\n`).join("")}0\r\n${trailer}\r\n`;
}

const TOKENS = [
  ...Array.from('\n ,:"\\{}[]\u0000\u00ff\u00c3'),
  ...listed(String.raw`"retcode":"3 No", | "retcode":"0 Done", | "Ticket":"5", | "answer":{}, | \ud800 | \u0000`),
  "\r\n",
  "\r\n\r\n",
  "0\r\n\r\n",
  "1\r\nx\r\n",
  "\u00ed\u00a0\u0080",
  "Content-Length: 18\r\n",
  "Transfer-Encoding: chunked\r\n",
  'HTTP/1.1 200 OK\r\nContent-Length: 18\r\n\r\n{"retcode":"3 No"}',
];

type Edit = { readonly at: number; readonly drop: number; readonly insert: string; readonly isTruncation: boolean };
const EDIT: fc.Arbitrary<Edit> = fc.record({
  at: fc.nat(400),
  drop: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.nat(8) }),
  insert: fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom(...TOKENS) },
    { weight: 1, arbitrary: fc.constant("") },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 3 }).map((raw) => Buffer.from(raw).toString("latin1")) },
  ),
  isTruncation: fc.integer({ min: 0, max: 15 }).map((dice) => dice === 0),
});

/** Bytes with up to three edits, mostly with none. */
export function damaged(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const edits = fc.oneof(
    { weight: 3, arbitrary: fc.constant<Edit[]>([]) },
    { weight: 2, arbitrary: fc.array(EDIT, { maxLength: 3 }) },
  );
  return fc.tuple(text, edits).map(([whole, list]) =>
    list.reduce((before, { at, drop, insert, isTruncation }) => {
      const offset = before.length === 0 ? 0 : at % (before.length + 1);
      return before.slice(0, offset) + insert + (isTruncation ? "" : before.slice(offset + drop));
    }, whole),
  );
}

/** The same bytes in portions: all at once, one by one, or cut anywhere. */
export function inPortions(text: fc.Arbitrary<string>): fc.Arbitrary<Sent> {
  const cuts = fc.oneof(
    { weight: 3, arbitrary: fc.constant<number[] | "bytes">([]) },
    { weight: 1, arbitrary: fc.constant<number[] | "bytes">("bytes") },
    { weight: 3, arbitrary: fc.array(fc.nat(400), { maxLength: 4 }) },
  );
  return fc
    .tuple(text, cuts, fc.constantFrom<Sent["end"]>("silence", "close"))
    .map(([whole, positions, end]) => ({ portions: portionsOf(whole, positions), end }));
}

export function portionsOf(whole: string, cuts: readonly number[] | "bytes"): string[] {
  if (cuts === "bytes") return Array.from(whole);
  const positions = [...new Set(cuts.map((cut) => cut % (whole.length + 1)))].toSorted((a, b) => a - b);
  return [...positions, whole.length]
    .map((to, index) => whole.slice(index === 0 ? 0 : positions[index - 1], to))
    .filter((part) => part !== "");
}
