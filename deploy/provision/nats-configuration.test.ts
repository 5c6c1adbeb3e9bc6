import { spawn } from "node:child_process";
import { mkdirSync, mkdtempDisposableSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { issueServerCertificate, type KeyPair, makeAuthority } from "./issue-certificates.ts";
import { waitFor } from "#test/support/wait-for.ts";
import { provideNatsServer } from "../local/nats.ts";
import { freePort } from "../local/ports.ts";
import { ANSWER_WITHIN_MS } from "../../services/edge/http/time-limit.ts";
import { natsConfiguration } from "./nats-configuration.ts";

/** Each is in the certificate of one node only, and none is where its connections come from. */
const HOSTS = ["127.0.0.21", "127.0.0.22", "127.0.0.23"];
/** Nodes that try a wrong address do so many times a second. */
const QUIET_MS = 1_000;

test("nodes of a cluster connect by the names in their certificates only", async () => {
  const nodes = await Promise.all(HOSTS.map(async (host) => `${host}:${await freePort()}`));
  const authority = await makeAuthority();
  await using stack = new AsyncDisposableStack();
  const folder = stack.adopt(mkdtempDisposableSync(join(tmpdir(), "nats-cluster-")), (made) => made.remove()).path;
  const { path } = await provideNatsServer();
  const logs = await Promise.all(
    nodes.map(async (node) => {
      const own = join(folder, node);
      const server = spawn(path, ["-c", await writeNode(own, { node, nodes, authority }), "-l", join(own, "log")]);
      stack.defer(async () => {
        server.kill("SIGKILL");
        await new Promise((ended) => (server.exitCode === null ? server.once("exit", ended) : ended(undefined)));
      });
      return () => readFileSync(join(own, "log"), "utf8");
    }),
  );
  await waitFor(() => expect(logs.map((log) => log()).join("")).toContain("new JetStream cluster metadata leader"));
  await sleep(QUIET_MS);
  for (const log of logs) expect(log()).not.toMatch(/handshake error/i);
});

test("a service may answer until the last request of the edge ends", () => {
  const passwordOf = (): string => "p";
  const text = natsConfiguration({ listen: "0.0.0.0:1", storeDir: "d", password: "p", passwordOf, hasSync: true });
  const allowed = [...text.matchAll(/"expires":"(\d+)s"/g)].map(([, seconds]) => Number(seconds) * 1_000);

  expect(allowed.length).toBeGreaterThan(1);
  expect(Math.min(...allowed)).toBeGreaterThan(Math.max(...Object.values(ANSWER_WITHIN_MS)));
});

type Node = { readonly node: string; readonly nodes: readonly string[]; readonly authority: KeyPair };

/** Returns the path of its configuration. */
async function writeNode(folder: string, { node, nodes, authority }: Node): Promise<string> {
  const [host = "", port = ""] = node.split(":");
  const { cert, key } = await issueServerCertificate(authority, { name: "nats", hosts: [host], isClient: true });
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  mkdirSync(folder);
  const tls = {
    certFile: file("tls.pem", cert),
    keyFile: file("tls-key.pem", key),
    caFile: file("ca.pem", authority.cert),
  };
  const cluster = { node: host, listen: `0.0.0.0:${port}`, nodes, advertise: node, password: "route-password", tls };
  const listen = `${host}:${await freePort()}`;
  return file(
    "nats.conf",
    natsConfiguration({ listen, storeDir: join(folder, "data"), password: undefined, hasSync: true, cluster }),
  );
}
