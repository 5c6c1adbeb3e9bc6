import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { inject, onTestFinished, TestRunner } from "vitest";
import { connect, type NatsConnection } from "nats";
import { startNats, type NatsServer } from "../../deploy/local/nats.ts";
import { setUpAllStreams } from "../../deploy/nats/streams.ts";
import { makeRunFolder } from "./run-folder.ts";

export type TestNats = AsyncDisposable & {
  /** The broker that all tests of this run share. */
  readonly url: string;
  /** A connection of the test's own. */
  readonly connection: NatsConnection;
  /** A token that is unique to the test: a part of every subject, queue group and durable name. */
  readonly prefix: string;
  /** A stream name that is unique to the test. */
  readonly stream: string;
};

let made = 0;

/** The shared broker, with unique names. Streams whose names begin with `stream` are deleted after the test. */
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
  /** Sends SIGKILL: data that is not on disk is lost. */
  readonly kill: () => Promise<void>;
  /** Starts on the same port; keeps the streams unless `wipe` is set. */
  readonly restart: (options?: { readonly wipe?: boolean }) => Promise<void>;
};

/** A broker for one test, which may kill and restart it. It has the streams of the services. */
export async function startOwnNats(): Promise<OwnNats> {
  const folder = makeRunFolder();
  const dir = mkdtempSync(join(folder.path, "nats-"));
  const start = async (wanted?: number): Promise<NatsServer> => {
    const started = await startNats({ dir, ...(wanted === undefined ? {} : { port: wanted }) });
    await setUpAllStreams({ url: started.url, replicas: 1 });
    return started;
  };
  let server = await start();
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
      server = await start(port);
    },
    [Symbol.asyncDispose]: end,
  };
}
