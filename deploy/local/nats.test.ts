import { mkdtempDisposableSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { issueServerCertificate, makeAuthority } from "../provision/issue-certificates.ts";
import { startNats } from "./nats.ts";

/** The handshake that is cut off is not so in every start. */
const STARTS = 5;

test("a broker with a certificate is waited for without an error in its log", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "nats-tls-"));
  const { cert, key } = await issueServerCertificate(await makeAuthority(), { name: "nats", hosts: ["127.0.0.1"] });
  const tls = { certFile: join(folder.path, "cert.pem"), keyFile: join(folder.path, "key.pem") };
  writeFileSync(tls.certFile, cert);
  writeFileSync(tls.keyFile, key, { mode: 0o600 });
  const logFile = join(folder.path, "nats-server.log");
  for (let starts = 0; starts < STARTS; starts += 1) {
    const server = await startNats({ dir: folder.path, logFile, tls });
    await server[Symbol.asyncDispose]();
  }

  const log = readFileSync(logFile, "utf8");
  expect(log).toContain("Server is ready");
  expect(log).not.toContain("TLS handshake error");
});
