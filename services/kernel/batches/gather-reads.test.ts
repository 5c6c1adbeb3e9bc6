import { expect, test } from "vitest";
import { byKey, gatherReads } from "./gather-reads.ts";

type Row = { readonly login: string; readonly version: number };

/** Reads whose statements end when the test says so; a row has the version of the moment at which its statement began. */
function someReads() {
  const state = { version: 1 };
  const statements: { readonly logins: readonly string[]; readonly end: (error?: Error) => void }[] = [];
  const read = gatherReads<string, Row>(async (logins) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const rows = logins.map((login) => ({ login, version: state.version }));
    statements.push({ logins, end: (error) => (error === undefined ? resolve() : reject(error)) });
    await promise;
    const refusal = new Error("bad is refused");
    return new Map(
      [...byKey(rows, ({ login }) => login)].map(([login, row]) => [login, login === "bad" ? refusal : row]),
    );
  });
  const started = async (count: number): Promise<void> => {
    await expect.poll(() => statements.length).toBe(count);
  };
  return { read, statements, state, started };
}

test("reads that wait at the same time are one statement, and a key that is asked for twice is read once", async () => {
  const { read, statements, started } = someReads();
  const answers = Promise.all([read("1"), read("2"), read("1")]);
  await started(1);
  statements[0]?.end();

  expect((await answers).map((row) => row?.login)).toEqual(["1", "2", "1"]);
  expect(statements.map(({ logins }) => logins)).toEqual([["1", "2"]]);
});

test("a read is never answered by a statement that began before it", async () => {
  const { read, statements, state, started } = someReads();
  const first = read("1");
  await started(1);
  state.version = 2;
  const second = read("1");
  await started(2);
  statements[1]?.end();

  // The first statement is slow and does not hold the second one.
  expect(await second).toEqual({ login: "1", version: 2 });
  statements[0]?.end();
  expect(await first).toEqual({ login: "1", version: 1 });
});

test("one key that fails fails alone, and a statement that fails fails its own reads only", async () => {
  const { read, statements, started } = someReads();
  const together = Promise.allSettled([read("1"), read("bad")]);
  await started(1);
  statements[0]?.end();
  expect((await together).map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);

  const lost = read("1");
  await started(2);
  statements[1]?.end(new Error("the connection was lost"));
  await expect(lost).rejects.toThrow("the connection was lost");
  const next = read("1");
  await started(3);
  statements[2]?.end();
  expect(await next).toEqual({ login: "1", version: 1 });
});
