import { mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testNats } from "#test/support/nats.ts";
import { startNats } from "../../../deploy/local/nats.ts";
import { createLog } from "../log.ts";
import { connectNats } from "./connect.ts";

const log = createLog({ service: "test", level: "silent" });

test("a broker that cannot be reached is reported in one line without credentials", async () => {
  const url = "nats://planted:secret@127.0.0.1:1";

  await expect(connectNats({ url, name: "test", log })).rejects.toThrow(
    "NATS at nats://127.0.0.1:1 cannot be reached (CONNECTION_REFUSED): start nats-server -js or set NATS_URL",
  );
});

test("user and password of the URL are used, and a refused login is reported in one line", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "nats-"));
  await using server = await startNats({ dir: folder.path, password: "p@ss/word" });
  const withUser = (user: string): string => `nats://${user}@127.0.0.1:${server.port}`;

  await using broker = await connectNats({ url: withUser("pamm:p%40ss%2Fword"), name: "test", log });
  expect(broker.isConnected()).toBe(true);
  await expect(connectNats({ url: withUser("pamm:wrong"), name: "test", log })).rejects.toThrow(
    `NATS at nats://127.0.0.1:${server.port} refuses the login: put user and password into NATS_URL`,
  );
});

test("a connection that ends before the service closes it is reported", async () => {
  const { url } = await testNats();
  const watched = await connectNats({ url, name: "test", log });
  const closed = await connectNats({ url, name: "test", log });

  await watched.connection.close();
  await closed[Symbol.asyncDispose]();

  await expect(watched.closed).rejects.toThrow("the connection to the broker was closed");
  await expect(closed.closed).resolves.toBeUndefined();
  expect(watched.isConnected()).toBe(false);
});
