import { expect, test } from "vitest";
import { NoAnswerError, ProblemError } from "../../client/index.ts";
import { createReadFile } from "./read-file.ts";

const answering =
  (body: string, init?: ResponseInit): typeof fetch =>
  async () =>
    new Response(body, init);
const read = (fetch: typeof globalThis.fetch) => createReadFile("https://example.com", fetch)("/api/v1/file");

test("a file is the text of an answer", async () => {
  const sent: unknown[] = [];
  const text = await read(async (target) => {
    sent.push(target);
    return new Response("a,b\r\n");
  });
  expect([text, sent]).toEqual(["a,b\r\n", ["https://example.com/api/v1/file"]]);
});

test("a refusal is a problem in its own words", async () => {
  const body = JSON.stringify({ code: "investor_not_found", title: "No such Investor", request_id: "1" });
  const headers = { "content-type": "application/problem+json" };
  const problem = read(answering(body, { status: 404, headers }));
  await expect(problem).rejects.toBeInstanceOf(ProblemError);
  await expect(problem).rejects.toMatchObject({ problem: { code: "investor_not_found" } });
});

test("neither silence nor a page of something in between is a file", async () => {
  await expect(read(answering("<html>", { status: 502 }))).rejects.toBeInstanceOf(NoAnswerError);
  const silence = read(async () => {
    throw new TypeError("failed to fetch");
  });
  await expect(silence).rejects.toBeInstanceOf(NoAnswerError);
  await expect(silence).rejects.not.toThrow("secret");
});
