import { expect, test } from "vitest";
import { type AuditEntry, createAudit } from "./audit.ts";
import { logTo } from "../../testing/test-edge.ts";

function anEntry(requestId: string): AuditEntry {
  return {
    at: new Date("2026-01-02T03:04:05Z"),
    requestId,
    keyId: "KeyOfTests01",
    client: "tests",
    address: "127.0.0.1",
    method: "POST",
    route: "/api/v1/investor/deposit",
    operationId: null,
    decision: "allowed",
    status: 200,
    code: null,
  };
}

test("entries are written in a batch, and none is lost at shutdown", async () => {
  const written: string[][] = [];
  const audit = createAudit(async (entries) => void written.push(entries.map(({ requestId }) => requestId)), logTo([]));
  audit.note(anEntry("a"));
  audit.note(anEntry("b"));
  await audit[Symbol.asyncDispose]();

  expect(written).toEqual([["a", "b"]]);
});

test("entries that could not be written are written later, in order", async () => {
  const written: string[] = [];
  let isDown = true;
  const audit = createAudit(async (entries) => {
    if (isDown) throw new Error("the database is unavailable");
    written.push(...entries.map(({ requestId }) => requestId));
  }, logTo([]));
  for (let each = 0; each < 500; each += 1) audit.note(anEntry(String(each)));
  await new Promise(setImmediate);
  isDown = false;
  audit.note(anEntry("last"));
  await audit[Symbol.asyncDispose]();

  expect([written.length, written[0], written.at(-1)]).toEqual([501, "0", "last"]);
});

test("a write of an entry that must be durable fails when the database is unavailable", async () => {
  const audit = createAudit(() => Promise.reject(new Error("the database is unavailable")), logTo([]));

  await expect(audit.write(anEntry("a"))).rejects.toThrow("the database is unavailable");
});

test("entries that must be durable at the same time are one statement, and none counts before it ended", async () => {
  const statements: { readonly ids: string[]; readonly end: () => void }[] = [];
  const audit = createAudit(async (entries) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    statements.push({ ids: entries.map(({ requestId }) => requestId), end: resolve });
    await promise;
  }, logTo([]));
  const durable: string[] = [];
  const writes = ["a", "b", "c"].map((id) => audit.write(anEntry(id)).then(() => durable.push(id)));
  await expect.poll(() => statements.length).toBe(1);
  expect(durable).toEqual([]);
  statements[0]?.end();
  await Promise.all(writes);

  expect(statements.map(({ ids }) => ids)).toEqual([["a", "b", "c"]]);
  expect(durable).toEqual(["a", "b", "c"]);
});
