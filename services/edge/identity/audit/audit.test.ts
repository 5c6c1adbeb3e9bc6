import { expect, test } from "vitest";
import { type AuditEntry, createAudit, refusedRequests } from "./audit.ts";
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

test("refused requests of an address are recorded once a second after the first hundred", () => {
  let ms = 0;
  const isRecorded = refusedRequests(() => new Date(ms));
  const count = (address: string, times: number) =>
    Array.from({ length: times }, () => isRecorded(address)).filter(Boolean).length;

  expect(count("192.0.2.1", 1_000)).toBe(100);
  expect(count("192.0.2.2", 5)).toBe(5);
  ms += 3_000;
  expect(count("192.0.2.1", 1_000)).toBe(3);
});

test("the addresses of one network of IPv6 are one, and so are both forms of an IPv4 address", () => {
  const isRecorded = refusedRequests(() => new Date(0));
  const recorded = (addresses: readonly string[]) => addresses.filter((address) => isRecorded(address)).length;
  const times = (address: (index: number) => string) =>
    recorded(Array.from({ length: 150 }, (_, index) => address(index)));

  expect(times((index) => `2001:db8::${index.toString(16)}:1`)).toBe(100);
  expect(recorded(["2001:DB8:0:0:ffff::", "2001:db8:0:1::", "fe80::1%eth0"])).toBe(2);
  expect(times(() => "::ffff:192.0.2.1")).toBe(100);
  expect(recorded(["192.0.2.1", "::ffff:c000:201", "::ffff:192.0.2.2"])).toBe(1);
});

test("an attack from many addresses leaves ten records a second", () => {
  let ms = 0;
  const isRecorded = refusedRequests(() => new Date(ms));
  const attack = () =>
    Array.from({ length: 5_000 }, (_, index) => isRecorded(`2001:db8:0:${index.toString(16)}::1`)).filter(Boolean)
      .length;

  expect(attack()).toBe(1_000);
  ms += 10_000;
  expect(attack()).toBe(100);
});
