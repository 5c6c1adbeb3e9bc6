import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import pg from "pg";
import { migrate } from "./migrate.ts";

const SERVER = "postgres://app@127.0.0.1:55439";

export async function emptyDatabase(): Promise<{ url: string } & AsyncDisposable> {
  const name = `t_${randomUUID().replaceAll("-", "")}`;
  const admin = new pg.Client(`${SERVER}/postgres`);
  await admin.connect();
  await admin.query(`create database ${name}`);
  return {
    url: `${SERVER}/${name}`,
    async [Symbol.asyncDispose]() {
      await admin.query(`drop database ${name} with (force)`);
      await admin.end();
    },
  };
}

/** A database with the kernel's own tables in one schema. */
export async function migratedDatabase(): Promise<{ url: string; schema: string } & AsyncDisposable> {
  const database = await emptyDatabase();
  const folder = await mkdtemp(join(tmpdir(), "no-migrations-"));
  await migrate({ url: database.url, schema: "kernel", folder });
  return { ...database, schema: "kernel", [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() };
}
