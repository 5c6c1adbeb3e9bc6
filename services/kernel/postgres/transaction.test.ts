import net from "node:net";
import { emptyDatabase } from "#test/support/database.ts";
import { beforeEach, expect, test } from "vitest";
import { CommitUnknown } from "./failure.ts";
import { createPool, type Pool } from "./pool.ts";
import { execute, many, one, sql } from "./query.ts";
import { afterCommit, autocommit, inTransaction, type Transaction } from "./transaction.ts";

const { pool, url } = await emptyDatabase("notes");
await execute(
  pool,
  sql`create table note (id integer primary key, other integer references note deferrable initially deferred)`,
);

const insert = (tx: Transaction | Pool, id: number) => execute(tx, sql`insert into note (id) values (${id})`);
const ids = async () => (await many<{ id: number }>(pool, sql`select id from note order by id`)).map(({ id }) => id);

beforeEach(async () => {
  await execute(pool, sql`truncate note`);
});

test("an error rolls the transaction back, and its connection returns to the pool", async () => {
  const failed = inTransaction(pool, async (tx) => {
    await insert(tx, 1);
    throw new Error("failed");
  });

  await expect(failed).rejects.toThrow("failed");
  expect(await ids()).toEqual([]);
  expect(pool.totalCount - pool.idleCount).toBe(0);
});

test("an error that the work ignored fails the transaction", async () => {
  const swallowed = inTransaction(pool, async (tx) => {
    await insert(tx, 1);
    await insert(tx, 1).catch(() => undefined);
  });

  await expect(swallowed).rejects.toThrow("swallowed");
  expect(await ids()).toEqual([]);
});

test("a constraint that fails at commit is an ordinary failure, because nothing was committed", async () => {
  const failed = inTransaction(pool, (tx) => execute(tx, sql`insert into note (id, other) values (1, 99)`));

  await expect(failed).rejects.toMatchObject({ name: "error", code: "23503" });
  expect(await ids()).toEqual([]);
});

test("a connection that is lost between two statements fails the transaction and not the process", async () => {
  const failed = inTransaction(pool, async (tx) => {
    await insert(tx, 1);
    const { pid } = await one<{ pid: number }>(tx, sql`select pg_backend_pid() as pid`);
    await one(pool, sql`select pg_terminate_backend(${pid})`);
    await expect.poll(() => many(pool, sql`select from pg_stat_activity where pid = ${pid}`)).toEqual([]);
    await new Promise((resolve) => setTimeout(resolve, 50));
  });

  await expect(failed).rejects.toThrow();
  await expect(failed).rejects.not.toBeInstanceOf(CommitUnknown);
  expect(await ids()).toEqual([]);
});

test("a connection that is lost during commit leaves the outcome unknown", async () => {
  await using proxy = await proxyThatLosesCommits(new URL(url));
  await using lossy = createPool({ url: proxy.url, schema: "notes", applicationName: "lossy", max: 1 });

  const lost = inTransaction(lossy, (tx) => insert(tx, 7));

  await expect(lost).rejects.toBeInstanceOf(CommitUnknown);
  // The server has committed: a repeated call would execute the work twice.
  await expect.poll(ids).toEqual([7]);
});

test("a connection that is lost during a statement that commits by itself leaves the outcome unknown", async () => {
  await using proxy = await proxyThatLosesCommits(new URL(url));
  await using lossy = createPool({ url: proxy.url, schema: "notes", applicationName: "lossy", max: 1 });

  const lost = autocommit(lossy, (client) => client.query("insert into note (id) values (8) -- commit"));

  await expect(lost).rejects.toBeInstanceOf(CommitUnknown);
  await expect.poll(ids).toEqual([8]);
  // An error of the statement itself is certain, and its connection is used again.
  await expect(autocommit(pool, (client) => client.query("insert into note (id) values (8)"))).rejects.toMatchObject({
    code: "23505",
  });
});

test("wake-up signals follow the commit, once each, and none follows a rollback", async () => {
  const read: (readonly number[])[] = [];
  const wake = (): void => void ids().then((now) => read.push(now));

  await inTransaction(pool, async (tx) => {
    afterCommit(tx, wake);
    afterCommit(tx, wake);
    await insert(tx, 1);
  });
  const failed = inTransaction(pool, async (tx) => {
    afterCommit(tx, wake);
    throw new Error("no");
  });
  await expect(failed).rejects.toThrow("no");

  await expect.poll(() => read).toEqual([[1]]);
});

/** Forwards all data except the answer to a commit, and closes the connection instead. */
async function proxyThatLosesCommits(target: URL): Promise<{ url: string } & AsyncDisposable> {
  const server = net.createServer((client) => {
    const upstream = net.connect(Number(target.port), target.hostname);
    let isCommitting = false;
    client.on("data", (chunk) => {
      isCommitting ||= chunk.includes("commit");
      upstream.write(chunk);
    });
    upstream.on("data", (chunk) => (isCommitting ? client.destroy() : client.write(chunk)));
    for (const socket of [client, upstream]) socket.on("error", () => undefined);
    client.on("close", () => upstream.end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = new URL(target);
  url.port = String((server.address() as net.AddressInfo).port);
  return {
    url: url.href,
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
