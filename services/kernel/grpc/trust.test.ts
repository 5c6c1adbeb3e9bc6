import { connect } from "node:tls";
import { Client as Channel, type ChannelCredentials, credentials, status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FeedServiceService } from "#proto/pamm/common/v1/feed.ts";
import type { ServiceName } from "#catalogue/services.ts";
import { answer, call, contract, encoded, refusalOf, request, silent } from "../testing/calls.ts";
import { HOST } from "../testing/grpc-serving.ts";
import { testIdentity } from "../testing/identity.ts";
import { grpcClient } from "./client.ts";
import { type Identity, readIdentity } from "../certificates/identity.ts";
import { issueCertificate, makeAuthority } from "../../../deploy/provision/issue-certificates.ts";
import { serveOverGrpc } from "./serve.ts";

/** A server whose only method may be used by fee and funding. */
async function guarded() {
  const callers: string[] = [];
  const read: typeof answer = (message, context) => {
    callers.push(context.caller);
    return answer(message, context);
  };
  const services = [{ contract, implementation: { read }, permissions: { read: ["fee", "funding"] } }] as const;
  const server = await serveOverGrpc({
    host: HOST,
    port: 0,
    services,
    identity: await testIdentity("platform"),
    log: silent,
  });
  const clientOf = async (name: ServiceName, identity?: Identity, service: ServiceName = "platform") =>
    grpcClient(`${HOST}:${server.port}`, { contract, service, identity: identity ?? (await testIdentity(name)) });
  return { ...server, callers, clientOf, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

test("each service can use the methods that are permitted to it, and no others", async () => {
  await using server = await guarded();
  for (const name of ["fee", "funding"] as const) {
    using client = await server.clientOf(name);
    await client.read(request, call());
  }
  for (const name of ["account", "edge", "platform", "subscription"] as const) {
    using client = await server.clientOf(name);
    expect(await refusalOf(client.read(request, call()))).toMatchObject({
      code: "not_permitted",
      status: "forbidden",
      message: "The caller may not use Read.",
      outcome: "not_executed",
    });
  }
  expect(server.callers).toEqual(["fee", "funding"]);
});

test("the name in a header is not believed: the caller is the one in the certificate", async () => {
  await using server = await guarded();
  using client = await server.clientOf("fee", { ...(await testIdentity("fee")), name: "funding" });
  await client.read(request, call());
  expect(server.callers).toEqual(["fee"]);
});

test("a client without a certificate, or with one of another authority, gets no connection", async () => {
  await using server = await guarded();
  const authority = await makeAuthority();
  const foreign = {
    name: "fee",
    ca: (await testIdentity("fee")).ca,
    ...(await issueCertificate(authority, "fee")),
  } as const;
  using client = await server.clientOf("fee", foreign);
  expect(await refusalOf(client.read(request, call()))).toMatchObject({ code: "service_unavailable" });

  const { ca } = await testIdentity("fee");
  for (const anonymous of [credentials.createInsecure(), credentials.createSsl(Buffer.from(ca))]) {
    expect(await rawStatus(server.port, anonymous)).toBe(status.UNAVAILABLE);
  }
  expect(server.callers).toEqual([]);
});

test("a server that cannot prove the expected name receives no call", async () => {
  await using server = await guarded();
  using client = await server.clientOf("fee", undefined, "subscription");
  expect(await refusalOf(client.read(request, call()))).toMatchObject({ code: "service_unavailable" });
  expect(server.callers).toEqual([]);
});

test("TLS 1.2 is refused", async () => {
  await using server = await guarded();
  const { ca, cert, key } = await testIdentity("fee");
  const socket = connect({
    host: HOST,
    port: server.port,
    ca,
    cert,
    key,
    servername: "platform",
    maxVersion: "TLSv1.2",
  });
  await expect(
    new Promise((resolve, reject) => socket.once("secureConnect", resolve).once("error", reject)),
  ).rejects.toThrow();
});

test("a start with a certificate that proves nothing ends with the reason", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "identity-"));
  const file = (name: string, content: string): string => {
    writeFileSync(join(folder.path, name), content);
    return join(folder.path, name);
  };
  const fee = await testIdentity("fee");
  const account = await testIdentity("account");
  const good = {
    PAMM_TLS_CA_FILE: file("ca", fee.ca),
    PAMM_TLS_CERT_FILE: file("cert", fee.cert),
    PAMM_TLS_KEY_FILE: file("key", fee.key),
  };
  expect(readIdentity("fee", good)).toEqual(fee);
  const cases: [ServiceName, Partial<typeof good>, RegExp][] = [
    ["account", {}, /PAMM_TLS_CERT_FILE is not the certificate of account: DNS:fee/],
    ["fee", { PAMM_TLS_KEY_FILE: file("other", account.key) }, /PAMM_TLS_KEY_FILE does not belong to the certificate/],
    ["fee", { PAMM_TLS_KEY_FILE: file("text", "text") }, /PAMM_TLS_KEY_FILE has no private key/],
    ["fee", { PAMM_TLS_CERT_FILE: file("text", "text") }, /PAMM_TLS_CERT_FILE has no certificate/],
    ["fee", { PAMM_TLS_CA_FILE: file("text", "text") }, /PAMM_TLS_CA_FILE has no certificate/],
    [
      "fee",
      { PAMM_TLS_CA_FILE: join(folder.path, "none") },
      /PAMM_TLS_CA_FILE names a file that cannot be read \(ENOENT\)/,
    ],
  ];
  for (const [name, wrong, reason] of cases) expect(() => readIdentity(name, { ...good, ...wrong })).toThrow(reason);
});

function rawStatus(port: number, secure: ChannelCredentials): Promise<status> {
  const channel = new Channel(`${HOST}:${port}`, secure, { "grpc.ssl_target_name_override": "platform" });
  const asIs = (bytes: Buffer): Buffer => bytes;
  return new Promise((resolve) => {
    channel.makeUnaryRequest(FeedServiceService.read.path, asIs, asIs, Buffer.from(encoded), (error) => {
      channel.close();
      resolve(error?.code ?? status.OK);
    });
  });
}
