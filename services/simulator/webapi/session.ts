import { refused } from "../domain/retcode.ts";
import { numberOf, type Params, requiredNumber, textOf } from "./params.ts";
import { isSameHex, passwordHash, randomAnswer } from "./password-hash.ts";
import type { WireRecord } from "./reply.ts";

export type Session =
  | { readonly state: "closed" }
  | { readonly state: "started"; readonly random: string; readonly startedAtMs: number }
  | { readonly state: "authenticated" };

export type Manager = { readonly login: number; readonly password: string };

export const CLOSED: Session = { state: "closed" };

/** At most this long between auth/start and auth/answer. */
const HANDSHAKE_MS = 10_000;
/** The platform refuses older clients. */
const OLDEST_VERSION = 484;
const BUILD = "4150";
const RANDOM_HEX = /^[0-9a-f]{32}$/i;

/** The first half: checks the login and returns a random number that is valid for one answer. */
export function startHandshake(
  params: Params,
  manager: Manager,
  fresh: { readonly random: string; readonly nowMs: number },
): { readonly session: Session; readonly siblings: WireRecord } {
  const agent = textOf(params, "agent") ?? "";
  const isWellFormed = agent !== "" && !/\s/.test(agent) && textOf(params, "type") === "manager";
  if (!isWellFormed) throw refused("invalidParameters");
  if (requiredNumber(params, "version") < OLDEST_VERSION) throw refused("oldClient");
  if (numberOf(params, "login") !== manager.login) throw refused("invalidAccount");
  return {
    session: { state: "started", random: fresh.random, startedAtMs: fresh.nowMs },
    siblings: { version_access: BUILD, srv_rand: fresh.random },
  };
}

/** The second half; undefined means 403. The random number is used up by any answer. */
export function finishHandshake(
  session: Session,
  params: Params,
  manager: Manager,
  nowMs: number,
): WireRecord | undefined {
  if (session.state !== "started" || nowMs - session.startedAtMs > HANDSHAKE_MS) return undefined;
  const given = textOf(params, "srv_rand_answer") ?? "";
  const clientRandom = textOf(params, "cli_rand") ?? "";
  const hash = passwordHash(manager.password);
  if (!isSameHex(given.toLowerCase(), randomAnswer(hash, session.random))) return undefined;
  if (!RANDOM_HEX.test(clientRandom)) return undefined;
  return {
    version_access: BUILD,
    version_trade: BUILD,
    cli_rand_answer: randomAnswer(hash, clientRandom),
  };
}
