import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { inject, onTestFinished, TestRunner } from "vitest";
import { connect, type NatsConnection } from "nats";
import { startNats, type NatsServer } from "../../deploy/local/nats.ts";
import { makeRunFolder } from "./run-folder.ts";

export type TestNats = AsyncDisposable & {
  /** The broker that all tests of this run share. */
  readonly url: string;
  /** A connection of the test's own. */
  readonly connection: NatsConnection;
  /** A token that no other test has: make it a part of every subject, queue group and durable name. */
  readonly prefix: string;
  /** A stream name that no other test has. */
  readonly stream: string;
};

let made = 0;

/** The shared broker, with names that keep tests apart. Streams whose names begin with `stream` go with the test. */
export async function testNats(): Promise<TestNats> {
  const url = inject("natsUrl");
  const prefix = `t${inject("runId")}${process.pid}x${(made += 1)}`;
  const stream = prefix.toUpperCase();
  const connection = await connect({ servers: url, name: `test ${prefix}`, noAsyncTraces: true });
  const end = async (): Promise<void> => {
    if (connection.isClosed()) return;
    const manager = await connection.jetstreamManager();
    for await (const name of manager.streams.names()) if (name.startsWith(stream)) await manager.streams.delete(name);
    await connection.close();
  };
  if (TestRunner.getCurrentTest() !== undefined) onTestFinished(end);
  return { url, connection, prefix, stream, [Symbol.asyncDispose]: end };
}

export type OwnNats = AsyncDisposable & {
  readonly url: string;
  readonly port: number;
  /** SIGKILL: what was not written yet is lost. */
  readonly kill: () => Promise<void>;
  /** On the same port, with the streams of before unless they are to be wiped. */
  readonly restart: (options?: { readonly wipe?: boolean }) => Promise<void>;
};

/** A broker of the test's own, to be killed and restarted. */
export async function startOwnNats(): Promise<OwnNats> {
  const folder = makeRunFolder();
  const dir = mkdtempSync(join(folder.path, "nats-"));
  let server: NatsServer = await startNats({ dir });
  const { url, port } = server;
  const end = async (): Promise<void> => {
    await server[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  };
  if (TestRunner.getCurrentTest() !== undefined) onTestFinished(end);
  return {
    url,
    port,
    kill: () => server.process.stop("SIGKILL", 0),
    async restart({ wipe = false } = {}) {
      await server[Symbol.asyncDispose]();
      if (wipe) rmSync(join(dir, "jetstream"), { recursive: true, force: true });
      server = await startNats({ dir, port });
    },
    [Symbol.asyncDispose]: end,
  };
}
