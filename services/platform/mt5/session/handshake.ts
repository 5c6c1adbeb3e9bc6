import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Secret } from "#kernel/values/secret.ts";
import { type Envelope, requireEnvelope } from "../codec.ts";
import { Mt5Error, badAnswer } from "../errors.ts";
import type { Exchanged } from "../http/http-answer.ts";
import type { Mt5Request } from "../http/http-request.ts";
import { RETCODE } from "../retcodes.ts";

export type Credentials = {
  /** The manager's login. */
  readonly login: string;
  /** The manager's API password, distinct from the main and the investor password. */
  readonly password: Secret<string>;
};

/** Any number from 484 on; the server logs it. */
const CLIENT_VERSION = "3000";
const AGENT = "PammBackOffice";
const RANDOM_BYTES = 16;
const RANDOM = /^[0-9a-f]{32}$/i;

/** Signs in on one connection, and verifies that the server knows the password too. Throws when either check fails. */
export async function authenticate(
  call: (request: Mt5Request) => Promise<Exchanged>,
  { login, password }: Credentials,
): Promise<void> {
  const query = { version: CLIENT_VERSION, agent: AGENT, login, type: "manager" };
  const start = accepted(await call({ method: "GET", path: "auth/start", query }));
  const hash = passwordHash(password.reveal());
  const ownRandom = randomBytes(RANDOM_BYTES).toString("hex");
  const proof = { srv_rand_answer: answerTo(hash, randomOf(start, "srv_rand")), cli_rand: ownRandom };
  const answer = accepted(await call({ method: "GET", path: "auth/answer", query: proof }));
  const expected = Buffer.from(answerTo(hash, ownRandom), "hex");
  if (!timingSafeEqual(Buffer.from(randomOf(answer, "cli_rand_answer"), "hex"), expected)) {
    throw new Mt5Error(
      "server_authentication_failed",
      "the platform could not prove that it knows the manager's password",
    );
  }
}

/** Concatenates raw bytes, never hex text; the password is UTF-16LE without a byte order mark. */
export function passwordHash(password: string): Buffer {
  return md5(md5(Buffer.from(password, "utf16le")), Buffer.from("WebAPI", "ascii"));
}

/** The answer of either side to the other's random number. */
export function answerTo(hash: Buffer, randomHex: string): string {
  return md5(hash, Buffer.from(randomHex, "hex")).toString("hex");
}

function md5(...parts: readonly Buffer[]): Buffer {
  const hash = createHash("md5");
  for (const part of parts) hash.update(part);
  return hash.digest();
}

function accepted(exchanged: Exchanged): Envelope {
  if (exchanged.kind !== "answered") {
    throw new Mt5Error("unreachable", `the platform gave no answer to the handshake (${exchanged.reason})`);
  }
  const { status, body } = exchanged.answer;
  if (status === 403) throw new Mt5Error("login_refused", "the platform refuses the manager login (HTTP 403)");
  if (status !== 200) throw new Mt5Error("http_status", `the platform answers the handshake with HTTP ${status}`);
  const envelope = requireEnvelope(body);
  if (envelope.code === RETCODE.done) return envelope;
  const message = `the platform refuses the manager login (${envelope.code} ${envelope.text})`;
  throw new Mt5Error("login_refused", message, { retcode: envelope.code });
}

function randomOf({ members }: Envelope, name: string): string {
  const [value, ...others] = members.get(name) ?? [];
  if (typeof value !== "string" || others.length > 0 || !RANDOM.test(value)) {
    throw badAnswer(`the platform's handshake has no valid ${name}`);
  }
  return value;
}
