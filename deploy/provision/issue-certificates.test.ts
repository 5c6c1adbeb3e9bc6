import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect, createServer } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import { issueCertificate, makeAuthority } from "./issue-certificates.ts";

test.each([0, 1])("while two authorities are trusted, certificates of both are (%i)", async (issuer) => {
  const authorities = [await makeAuthority(), await makeAuthority()] as const;
  const { cert, key } = await issueCertificate(authorities[issuer === 0 ? 0 : 1], "account");
  const server = createServer({ cert, key }, (socket) => socket.end());
  onTestFinished(() => void server.close());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  const ca = authorities.map((authority) => authority.cert.trim()).join("\n");
  const { port } = server.address() as AddressInfo;
  const socket = connect({ port, host: "127.0.0.1", servername: "account", ca });
  await once(socket, "secureConnect");

  expect(socket.authorized).toBe(true);
  socket.destroy();
});
