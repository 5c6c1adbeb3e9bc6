import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { startSimulator } from "../start.ts";
import { connectAuthenticated, connectRaw, handshakeAnswer, startTarget } from "../test/raw-client.ts";
import { passwordHash, randomAnswer } from "./password-hash.ts";

const CLIENT_RANDOM = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";

test("the hash matches the vendor's test vector", () => {
  const hash = passwordHash("Password1");
  expect(hash.toString("hex")).toBe("904ba8ecb16273d2f0ae9c3b8a023752");
  expect(randomAnswer(hash, "73007dc7184747ce0f7c98516ef1c851")).toBe("77fe51827f7fa69dd80fbec9aa33f1bb");
  expect(randomAnswer(hash, "4db98fec17aab4dc5a240bdc659e8395")).toBe("1732021b1b332f51660b2b315eed3a35");
});

test("a password beyond ASCII is hashed as UTF-16LE", () => {
  const hash = passwordHash("Pamm-Tëst#2026");
  expect(hash.toString("hex")).toBe("9439ffb3f0877934c0b67fe946c0b250");
  expect(randomAnswer(hash, "00112233445566778899aabbccddeeff")).toBe("41186fce606fcb361d05cda1fb5e590f");
  expect(randomAnswer(hash, CLIENT_RANDOM)).toBe("37d0bf6e2dedea0b97f2583306f00cd4");
});

test("a manager with a password beyond ASCII signs in and receives the correct answer", async () => {
  await using simulator = await startSimulator({ managerLogin: 77, managerPassword: "Pamm-Tëst#2026" });
  await using client = await connectRaw(simulator);
  const start = await client.json(startTarget(77));
  expect(start).toEqual({
    retcode: "0 Done",
    version_access: "4150",
    srv_rand: expect.stringMatching(/^[0-9a-f]{32}$/),
  });

  const proof = handshakeAnswer("Pamm-Tëst#2026", start["srv_rand"]);
  const answer = await client.json(`/api/auth/answer?srv_rand_answer=${proof}&cli_rand=${CLIENT_RANDOM}`);
  expect(answer).toEqual({
    retcode: "0 Done",
    version_access: "4150",
    version_trade: "4150",
    cli_rand_answer: "37d0bf6e2dedea0b97f2583306f00cd4",
  });
  expect(await client.json("/api/test/access")).toEqual({ retcode: "0 Done" });
});

test("a hash of hex text instead of bytes is refused with 403 as plain text", async () => {
  await using simulator = await startSimulator();
  await using client = await connectRaw(simulator);
  const { srv_rand: random } = await client.json(startTarget(simulator.managerLogin));
  const hex = (text: string | Buffer) => createHash("md5").update(text).digest("hex");
  const chained = hex(hex(hex(Buffer.from(simulator.managerPassword, "utf16le")) + "WebAPI") + random);

  const answer = await client.call(`/api/auth/answer?srv_rand_answer=${chained}&cli_rand=${CLIENT_RANDOM}`);

  expect(answer).toMatchObject({ status: 403, text: "403 Forbidden" });
  expect(answer.headers.get("content-type")).toBe("text/plain");
  expect(await client.call("/api/test/access")).toMatchObject({ status: 403 });
});

test("a random number is valid for one answer, correct or not", async () => {
  await using simulator = await startSimulator();
  const { managerLogin, managerPassword } = simulator;
  await using client = await connectRaw(simulator);
  const { srv_rand: random } = await client.json(startTarget(managerLogin));
  const right = `/api/auth/answer?srv_rand_answer=${handshakeAnswer(managerPassword, random)}&cli_rand=${CLIENT_RANDOM}`;

  expect((await client.call(right.replace(/srv_rand_answer=./, "srv_rand_answer=x"))).status).toBe(403);
  expect((await client.call(right)).status).toBe(403);

  await using other = await connectRaw(simulator);
  const { srv_rand: second } = await other.json(startTarget(managerLogin));
  const again = `/api/auth/answer?srv_rand_answer=${handshakeAnswer(managerPassword, second)}&cli_rand=${CLIENT_RANDOM}`;
  expect((await other.call(again)).status).toBe(200);
  expect((await other.call(again)).status).toBe(403);
});

test("a handshake answer after ten seconds is refused", async () => {
  let nowMs = Date.now();
  await using simulator = await startSimulator({ nowMs: () => nowMs });
  await using client = await connectRaw(simulator);
  const { srv_rand: random } = await client.json(startTarget(simulator.managerLogin));
  nowMs += 10_001;
  const proof = handshakeAnswer(simulator.managerPassword, random);
  expect((await client.call(`/api/auth/answer?srv_rand_answer=${proof}&cli_rand=${CLIENT_RANDOM}`)).status).toBe(403);
});

test("an invalid start is answered with its code", async () => {
  await using simulator = await startSimulator({ managerLogin: 1005 });
  await using client = await connectRaw(simulator);
  const start = (query: string) => client.json(`/api/auth/start?${query}`).then(({ retcode }) => retcode);

  expect(await start("version=483&agent=a&login=1005&type=manager")).toBe("1010 Old client version");
  expect(await start("version=484&agent=a&login=1006&type=manager")).toBe("1001 Invalid account");
  expect(await start("version=484&agent=a&login=1005&type=client")).toBe("3 Invalid parameters");
  expect(await start("version=484&agent=&login=1005&type=manager")).toBe("3 Invalid parameters");
  expect(await start("version=484&agent=a%20b&login=1005&type=manager")).toBe("3 Invalid parameters");
  expect(await start("agent=a&login=1005&type=manager")).toBe("3 Invalid parameters");
});

test("a session belongs to one connection", async () => {
  await using simulator = await startSimulator();
  await using first = await connectAuthenticated(simulator);
  await using second = await connectRaw(simulator);
  expect((await first.call("/api/user/total")).status).toBe(200);
  expect(await second.call("/api/user/total")).toMatchObject({ status: 403, text: "403 Forbidden" });
});

test("quit ends the session and the connection", async () => {
  await using simulator = await startSimulator();
  await using client = await connectAuthenticated(simulator);
  expect(await client.json("/api/quit", { method: "POST" })).toEqual({ retcode: "0 Done" });
  await client.closed;
});
