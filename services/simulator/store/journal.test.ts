import { mkdtemp, open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Change } from "../domain/change.ts";
import { decodeChange, encodeChange } from "./change-codec.ts";
import { journalOn, openJournal } from "./journal.ts";

const CHANGES: readonly Change[] = [
  { kind: "account_removed", login: 5 },
  { kind: "balance_fixed", login: 5, balance: -1n, credit: 2n },
  { kind: "quote", quote: { symbol: "EURUSD", bid: 1n, ask: 2n, timeMsc: 3, change: 4 } },
  { kind: "forgotten", fromTicket: 7 },
  { kind: "deals", deals: [] },
];

test("a change is read as it was written", () => {
  for (const change of CHANGES) {
    const line = encodeChange(change);
    expect(line.endsWith("\n")).toBe(true);
    expect(decodeChange(line.slice(0, -1))).toEqual(change);
    expect(decodeChange(line.slice(0, -2))).toBeUndefined();
    expect(decodeChange(line.slice(1, -1))).toBeUndefined();
  }
});

test("settled changes are in the file, in the order of appending", async () => {
  const folder = await mkdtemp(join(tmpdir(), "journal-test-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, "journal.log");
  await using journal = await openJournal(path, 0);
  await journal.settled();
  for (let index = 0; index < 20; index += 1) {
    journal.append({ kind: "forgotten", fromTicket: index });
    if (index % 3 === 0) await journal.settled();
  }
  await journal.settled();
  const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
  expect(lines.map((line) => decodeChange(line))).toEqual(
    Array.from({ length: 20 }, (_, fromTicket) => ({ kind: "forgotten", fromTicket })),
  );
});

test("after a failed write no change is settled", async () => {
  // A device that is always full.
  const journal = journalOn(await open("/dev/full", "a"));
  journal.append({ kind: "forgotten", fromTicket: 1 });
  await expect(journal.settled()).rejects.toThrow("ENOSPC");
  await expect(journal.closed).rejects.toThrow("ENOSPC");
  journal.append({ kind: "forgotten", fromTicket: 2 });
  await expect(journal.settled()).rejects.toThrow("ENOSPC");
  await journal[Symbol.asyncDispose]();
});
