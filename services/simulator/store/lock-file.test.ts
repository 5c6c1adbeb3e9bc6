import { readFileSync } from "node:fs";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { zombie } from "#kernel/testing/zombie.ts";
import { lockFolder } from "./lock-file.ts";

async function lockPath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "lock-test-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return join(folder, "lock");
}

test("a second process is refused with the id of the first, and acquires the lock after the release", async () => {
  const path = await lockPath();
  {
    await using _held = await lockFolder(path);
    await expect(lockFolder(path)).rejects.toThrow(`another simulator (process ${process.pid}) uses this folder`);
  }
  await using _again = await lockFolder(path);
  expect(await readdir(join(path, ".."))).toEqual(["lock"]);
});

test.each([
  ["a process that has ended", JSON.stringify({ pid: 4_194_303, startedAt: "1" })],
  ["a process whose id is used by another process now", JSON.stringify({ pid: process.pid, startedAt: "1" })],
  ["no process, because it was written incompletely", "{"],
])("the lock of %s is taken over", async (_case, text) => {
  const path = await lockPath();
  await writeFile(path, text);
  await using _held = await lockFolder(path);
  await expect(lockFolder(path)).rejects.toThrow("another simulator");
});

test("the lock of a process that was killed, and that its parent has not collected yet, is taken over", async () => {
  const path = await lockPath();
  await using ended = await zombie();
  const [, fields = ""] = readFileSync(`/proc/${ended.pid}/stat`, "utf8").split(") ");
  await writeFile(path, JSON.stringify({ pid: ended.pid, startedAt: fields.split(" ")[19] }));
  await using _held = await lockFolder(path);
  expect(readFileSync(path, "utf8")).toContain(`"pid":${process.pid}`);
});

test("one of many processes acquires a stale lock, also when another one crashed while it removed the lock", async () => {
  const ended = JSON.stringify({ pid: 4_194_303, startedAt: "1" });
  for (let run = 0; run < 20; run += 1) {
    const path = await lockPath();
    await writeFile(path, ended);
    if (run % 2 === 1) await writeFile(`${path}.stale`, ended);
    const tries = await Promise.allSettled(Array.from({ length: 10 }, () => lockFolder(path)));
    const held = tries.filter(({ status }) => status === "fulfilled");
    expect(held).toHaveLength(1);
    expect(await readdir(join(path, ".."))).toEqual(["lock"]);
  }
});

test("where the start of a process cannot be read, no lock is taken: a holder that lives would count as ended", async () => {
  const path = await lockPath();

  await expect(lockFolder(path, "")).rejects.toThrow("/proc");
  expect(await readdir(join(path, ".."))).toEqual([]);
});
