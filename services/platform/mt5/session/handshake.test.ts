import { expect, test } from "vitest";
import { Secret } from "#kernel/values/secret.ts";
import type { Exchanged } from "../http/http-answer.ts";
import { answerTo, authenticate, passwordHash } from "./handshake.ts";
import type { Mt5Request } from "../http/http-request.ts";

test("the hash matches the vendor's test vector", () => {
  const hash = passwordHash("Password1");
  expect(hash.toString("hex")).toBe("904ba8ecb16273d2f0ae9c3b8a023752");
  expect(answerTo(hash, "73007dc7184747ce0f7c98516ef1c851")).toBe("77fe51827f7fa69dd80fbec9aa33f1bb");
  expect(answerTo(hash, "4db98fec17aab4dc5a240bdc659e8395")).toBe("1732021b1b332f51660b2b315eed3a35");
});

test("a password beyond ASCII is hashed as UTF-16LE, and raw bytes are chained, not their hex text", () => {
  const hash = passwordHash("Pamm-Tëst#2026");
  expect(hash.toString("hex")).toBe("9439ffb3f0877934c0b67fe946c0b250");
  expect(answerTo(hash, "00112233445566778899aabbccddeeff")).toBe("41186fce606fcb361d05cda1fb5e590f");
  expect(answerTo(hash, "0f1e2d3c4b5a69788796a5b4c3d2e1f0")).toBe("37d0bf6e2dedea0b97f2583306f00cd4");
});

const credentials = { login: "1005", password: new Secret("Password1") };
const SERVER_RANDOM = "73007dc7184747ce0f7c98516ef1c851";
const answered = (body: object | string, status = 200): Exchanged => ({
  kind: "answered",
  answer: {
    status,
    headers: new Map(),
    body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
    keepsAlive: true,
  },
});

/** A server with the correct password; `own` replaces answers by path. */
function aServer(own: Readonly<Record<string, Exchanged>> = {}) {
  const requests: Mt5Request[] = [];
  const call = (request: Mt5Request): Promise<Exchanged> => {
    requests.push(request);
    const ownRandom = request.query?.["cli_rand"] ?? "";
    const usual = {
      "auth/start": answered({ retcode: "0 Done", version_access: "4150", srv_rand: SERVER_RANDOM }),
      "auth/answer": answered({ retcode: "0 Done", cli_rand_answer: answerTo(passwordHash("Password1"), ownRandom) }),
    };
    return Promise.resolve({ ...usual, ...own }[request.path] ?? answered("", 404));
  };
  return { call, requests };
}

test("both sides prove that they know the password without sending it", async () => {
  const { call, requests } = aServer();
  await authenticate(call, credentials);
  expect(requests.map(({ path }) => path)).toEqual(["auth/start", "auth/answer"]);
  expect(requests[0]?.query).toEqual({ version: "3000", agent: "PammBackOffice", login: "1005", type: "manager" });
  expect(requests[1]?.query).toEqual({
    srv_rand_answer: "77fe51827f7fa69dd80fbec9aa33f1bb",
    cli_rand: expect.stringMatching(/^[0-9a-f]{32}$/),
  });
});

test("every handshake uses a new random number", async () => {
  const { call, requests } = aServer();
  await authenticate(call, credentials);
  await authenticate(call, credentials);
  expect(requests[1]?.query?.["cli_rand"]).not.toBe(requests[3]?.query?.["cli_rand"]);
});

test("a refused manager login is reported with the platform's code", async () => {
  const refusing = aServer({ "auth/start": answered({ retcode: "1001 Invalid account" }) });
  await expect(authenticate(refusing.call, credentials)).rejects.toMatchObject({
    problem: "login_refused",
    retcode: 1001,
    message: "the platform refuses the manager login (1001 Invalid account)",
  });
  const forbidding = aServer({ "auth/answer": answered("403 Forbidden", 403) });
  await expect(authenticate(forbidding.call, credentials)).rejects.toMatchObject({ problem: "login_refused" });
});

test("a handshake that is not as documented is an error", async () => {
  const cases: readonly [Exchanged, string][] = [
    [answered({ retcode: "0 Done" }), "bad_answer"],
    [answered({ retcode: "0 Done", srv_rand: "xyz" }), "bad_answer"],
    [answered(`{"retcode":"0 Done","srv_rand":"${SERVER_RANDOM}","srv_rand":"${SERVER_RANDOM}"}`), "bad_answer"],
    [answered("<html>"), "bad_answer"],
    [answered("", 502), "http_status"],
    [{ kind: "lost", reason: "timeout" }, "unreachable"],
  ];
  for (const [start, problem] of cases) {
    await expect(authenticate(aServer({ "auth/start": start }).call, credentials)).rejects.toMatchObject({ problem });
  }
});
