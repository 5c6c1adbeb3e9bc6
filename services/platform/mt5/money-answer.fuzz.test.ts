import { EventEmitter } from "node:events";
import fc from "fast-check";
import { expect, test } from "vitest";
import { anyBody, documentedBody } from "#test/fuzz/answers/bodies.ts";
import { verdictOf } from "#test/fuzz/answers/money-verdict.ts";
import { damaged, framed, inPortions, plainlyFramed, portionsOf, type Sent } from "#test/fuzz/answers/sent.ts";
import { FUZZ_TIMEOUT_MS, fuzz, fuzzAsync, report } from "#test/fuzz/support/fuzz.ts";
import { classifyCommandAnswer, type MoneyOutcome } from "./classify.ts";
import { createConnection } from "./http/connection.ts";
import { AnswerReader, type Exchanged } from "./http/http-answer.ts";
import type { Wire } from "./http/socket.ts";

const REQUEST = Buffer.from("POST /api/trade/balance HTTP/1.1\r\n\r\n");

const malformed = inPortions(damaged(framed(damaged(anyBody))));

test(
  "random bytes are classified as refused or applied only when they contain such an answer",
  () => {
    fuzz("money answers, from bytes to outcome", 8_000, malformed, (sent) => {
      expectJustified(classifyCommandAnswer(exchangedOf(sent)), () => sent);
    });
  },
  FUZZ_TIMEOUT_MS,
);

test(
  "a well-framed body is classified by its content only",
  () => {
    const plain = inPortions(damaged(anyBody).map((body) => plainlyFramed(body, undefined)));
    fuzz("money answers in well-formed frames", 8_000, plain, (sent) => {
      expectJustified(classifyCommandAnswer(exchangedOf(sent)), () => sent);
    });
  },
  FUZZ_TIMEOUT_MS,
);

test(
  "an answer that is cut or has one changed byte is classified by its remaining content only",
  () => {
    const bodies = fc.tuple(anyBody, fc.nat());
    let inputs = 0;
    fuzz("bodies before they are changed at every index", 500, bodies, ([body, seed]) => {
      for (const changed of everyChange(body, seed)) {
        inputs += 1;
        const answer = { status: 200, headers: new Map(), body: Buffer.from(changed, "latin1"), keepsAlive: true };
        const outcome = classifyCommandAnswer({ kind: "answered", answer });
        expectJustified(outcome, () => ({ portions: [plainlyFramed(changed, undefined)], end: "silence" }));
      }
    });
    report("bodies changed at one index", inputs);
  },
  FUZZ_TIMEOUT_MS,
);

test(
  "a documented answer is classified correctly in every spelling, chunking and portioning",
  () => {
    const documented = fc.tuple(
      documentedBody,
      fc.option(fc.array(fc.nat(80), { maxLength: 4 })),
      fc.oneof(fc.constant("bytes" as const), fc.array(fc.nat(200), { maxLength: 4 })),
    );
    fuzz("documented money answers", 4_000, documented, ([{ body, expected }, chunks, cuts]) => {
      const portions = portionsOf(plainlyFramed(body, chunks ?? undefined), cuts);
      expect(classifyCommandAnswer(exchangedOf({ portions, end: "silence" }))).toEqual(expected);
    });
  },
  FUZZ_TIMEOUT_MS,
);

test(
  "after the first written byte, a broken, silent or malformed connection is never classified as not sent",
  async () => {
    await fuzzAsync("money answers over a connection", 2_000, malformed, async (sent) => {
      expectJustified(await exchangeOver(sent), () => sent);
    });
  },
  FUZZ_TIMEOUT_MS,
);

const INSERTED_BYTES = Array.from('"\\\\{}[]:,0123456789 \\n\\u0000\\u0080\\u00ffeEtT');

/** Each prefix of the text, and the text with another byte at each index. */
function* everyChange(body: string, seed: number): Iterable<string> {
  const length = Math.min(body.length, 200);
  for (let at = 0; at < length; at += 1) {
    yield body.slice(0, at);
    const inserted = INSERTED_BYTES[(seed + at * 7) % INSERTED_BYTES.length]!;
    yield body.slice(0, at) + inserted + body.slice(at + 1);
  }
}

/** Only a complete answer may decide the outcome; the reader receives portions, so one prefix of them must be that answer. */
function expectJustified(outcome: MoneyOutcome, sent: () => Sent): void {
  if (outcome.kind === "unknown") return;
  const { portions, end } = sent();
  const verdicts = portions.map((_, last) =>
    verdictOf(
      Buffer.from(portions.slice(0, last + 1).join(""), "latin1"),
      end === "close" && last === portions.length - 1,
    ),
  );
  expect(verdicts).toContainEqual(outcome);
}

function exchangedOf({ portions, end }: Sent): Exchanged {
  const reader = new AnswerReader();
  for (const portion of portions) {
    const reading = reader.push(Buffer.from(portion, "latin1"));
    if (reading.kind === "done") return { kind: "answered", answer: reading.answer };
    if (reading.kind === "violation") return { kind: "lost", reason: "protocol_violation" };
  }
  const reading = end === "close" ? reader.end() : undefined;
  if (reading?.kind === "done") return { kind: "answered", answer: reading.answer };
  return { kind: "lost", reason: end === "close" ? "connection_lost" : "timeout" };
}

async function exchangeOver({ portions, end }: Sent): Promise<MoneyOutcome> {
  const written: Buffer[] = [];
  const tls = Object.assign(new EventEmitter(), {
    writable: true,
    destroyed: false,
    readableEnded: false,
    write: (bytes: Buffer) => written.push(bytes) > 0,
  });
  const connection = createConnection({ tls, reset: () => undefined } as unknown as Wire, () => undefined);
  const exchanged = connection.exchange(REQUEST, { timeoutMs: 60_000 });
  for (const portion of portions) tls.emit("data", Buffer.from(portion, "latin1"));
  if (end === "close") tls.emit("end");
  else connection.reset();
  const outcome = classifyCommandAnswer(await exchanged);
  expect(Buffer.concat(written)).toEqual(REQUEST);
  const next = await connection.exchange(REQUEST, { timeoutMs: 60_000 });
  expect([next.kind, written.length]).toEqual(["not_sent", 1]);
  return outcome;
}
