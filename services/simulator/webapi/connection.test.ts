import { once } from "node:events";
import { connect as connectTcp } from "node:net";
import { connect } from "node:tls";
import { expect, test } from "vitest";
import { startSimulator } from "../start.ts";
import { control } from "../test/fixture.ts";
import { connectAuthenticated, connectRaw, requestBytes } from "../test/raw-client.ts";

test.concurrent("an idle connection is closed, and a connection in use is not", async () => {
  await using simulator = await startSimulator({ idleCloseMs: 3_000 });
  await using idle = await connectAuthenticated(simulator);
  await using used = await connectAuthenticated(simulator);
  let isClosed = false;
  void idle.closed.then(() => (isClosed = true));
  // At least once after it.
  for (let isLast = false; !isLast; await new Promise((resolve) => setTimeout(resolve, 50))) {
    isLast = isClosed;
    expect((await used.json("/api/test/access")).retcode).toBe("0 Done");
  }
});

test.concurrent("a connection that waits for its answer is not idle", async () => {
  await using simulator = await startSimulator({ idleCloseMs: 1_500 });
  await control(simulator, "POST", "faults", { command: "test/access", effect: "delay", delay_ms: 2_500 });
  await using client = await connectAuthenticated(simulator);
  expect((await client.json("/api/test/access")).retcode).toBe("0 Done");
});

test.concurrent("the certificate names localhost, the loopback addresses, simulator and the names that the operator adds", async () => {
  await using simulator = await startSimulator({ tlsNames: ["mt5.example", "10.1.2.3"] });
  for (const servername of ["localhost", "simulator", "mt5.example"]) {
    const socket = connect({ host: "127.0.0.1", port: simulator.port, ca: simulator.ca, servername });
    await once(socket, "secureConnect");
    expect(socket.authorized).toBe(true);
    const names = socket.getPeerCertificate().subjectaltname;
    expect(names).toContain("IP Address:127.0.0.1");
    expect(names).toContain("IP Address:10.1.2.3");
    socket.destroy();
  }
  const wrongHost = connect({ host: "127.0.0.1", port: simulator.port, ca: simulator.ca, servername: "other.example" });
  const [error] = await once(wrongHost, "error");
  expect(error).toMatchObject({ code: "ERR_TLS_CERT_ALTNAME_INVALID" });
});

test.concurrent("unknown commands and unsupported methods are refused", async () => {
  await using simulator = await startSimulator();
  await using unauthenticated = await connectRaw(simulator);
  expect((await unauthenticated.call("/api/no/such")).status).toBe(403);
  await using client = await connectAuthenticated(simulator);
  expect(await client.call("/api/no/such")).toMatchObject({ status: 404, text: "404 Not Found" });
  expect((await client.call("/user/total")).status).toBe(404);
  expect((await client.call("/api/user/total", { method: "PUT", body: {} })).status).toBe(405);
});

test.concurrent("a body that is too large is refused and the connection closed", async () => {
  await using simulator = await startSimulator();
  await using client = await connectAuthenticated(simulator);
  const answer = await client.call("/api/user/add", { body: { Name: "x".repeat(300_000) } });
  expect(answer.status).toBe(413);
  await client.closed;
});

test.concurrent("a request that arrives in parts is answered once it is complete, and an incomplete one is never executed", async () => {
  await using simulator = await startSimulator();
  const { body: account } = await control(simulator, "POST", "accounts", { group: "pamm\\master", name: "A" });
  const target = `/api/trade/balance?login=${account.login}&type=2&balance=5&comment=x`;
  await using client = await connectAuthenticated(simulator);
  const bytes = requestBytes(target, { body: { Comment: "pieces" } });
  client.socket.write(bytes.subarray(0, bytes.length - 5));
  await new Promise((resolve) => setTimeout(resolve, 100));
  client.socket.destroy();
  await client.closed;

  await using other = await connectAuthenticated(simulator);
  other.socket.write(bytes.subarray(0, 20));
  await new Promise((resolve) => setTimeout(resolve, 20));
  other.socket.write(bytes.subarray(20));
  await once(other.socket, "data");
  const { body: deals } = await control(simulator, "GET", `accounts/${account.login}/deals`);
  expect(deals.map(({ comment }: { comment: string }) => comment)).toEqual(["pieces"]);
});

test.concurrent("pipelined requests are answered in order", async () => {
  await using simulator = await startSimulator();
  await using client = await connectAuthenticated(simulator);
  const answers = await Promise.all([
    client.json("/api/user/total"),
    client.json("/api/user/logins"),
    client.json("/api/group/get?group=pamm%5Cmaster"),
  ]);
  expect(answers.map(({ answer }) => answer)).toMatchObject([
    { total: "1" },
    [String(simulator.managerLogin)],
    { Group: "pamm\\master" },
  ]);
});

test.concurrent("invalid bytes on one connection do not affect others", async () => {
  await using simulator = await startSimulator();
  await using client = await connectAuthenticated(simulator);
  for (const garbage of [
    "\0".repeat(50),
    "GET / HTTP/9.9\r\n\r\n",
    "POST /api/user/add HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
  ]) {
    await using unauthenticated = await connectRaw(simulator);
    unauthenticated.socket.write(garbage);
    await unauthenticated.closed;
    const plain = connectTcp(simulator.port, "127.0.0.1");
    plain.on("error", () => undefined);
    plain.write(`${garbage}\r\n\r\n`.repeat(20));
    await once(plain, "close");
  }
  expect((await client.json("/api/test/access")).retcode).toBe("0 Done");
});

test.concurrent("a connection with an incomplete request is closed as idle", async () => {
  await using simulator = await startSimulator({ idleCloseMs: 200 });
  await using client = await connectAuthenticated(simulator);
  const bytes = requestBytes("/api/test/access", { body: "{}" });
  client.socket.write(bytes.subarray(0, bytes.length - 1));
  await expect(client.closed).resolves.toBeUndefined();
});
