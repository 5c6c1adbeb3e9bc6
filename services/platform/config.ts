import { readFileSync } from "node:fs";
import { BACKBONE_SETTINGS, databaseUrl } from "#kernel/backbone.ts";
import { duration, integer, list, optional, variable, secret, text, url } from "#kernel/config-variables.ts";
import { CHECK_SETTINGS } from "#kernel/reconcile/reconcile.ts";
import { StartupError } from "#kernel/startup-error.ts";
import type { LoginRange } from "./store/account-creations.ts";

/** A command of a paused process can still be executed until the server closes its idle connection, after 180 s. */
const MIN_QUIET_PERIOD_MS = 200_000;
/** Maximum sessions that the platform allows a manager; each is one connection with one request at a time. */
const MAX_SESSIONS = 16;

export const settings = {
  PLATFORM_DATABASE_URL: databaseUrl(),
  ...BACKBONE_SETTINGS,
  ...CHECK_SETTINGS,
  MT5_URL: url(["https"]),
  MT5_LOGIN: text("the manager's login"),
  MT5_PASSWORD: secret("the manager's API password"),
  MT5_CA_FILE: optional(text("a file with certificates in PEM")),
  /** Part of every unique key of a deal: must not change while the trade server stays the same. */
  MT5_SERVER_NAME: text("a name for the trade server", { whenMissing: "mt5" }),
  MT5_MASTER_GROUPS: list({ whenMissing: "pamm\\master" }),
  MT5_INVESTOR_GROUPS: list({ whenMissing: "pamm\\investor" }),
  MT5_PAYMENT_GROUP: text("a group", { whenMissing: "pamm\\payment" }),
  MT5_LOGIN_RANGE: loginRange("3000000-3999999"),
  MT5_SESSIONS: integer(1, MAX_SESSIONS, { whenMissing: "8" }),
  MT5_TIME_ZONE: optional(timeZone()),
  MT5_READ_INTERVAL: duration({ whenMissing: "PT1S" }),
  PAMM_QUIET_PERIOD: duration({ whenMissing: "PT5M" }),
};

/** A shorter period is for rehearsals only: a command could still be executed after it was recorded as absent. */
export function requireSafeQuietPeriod(quietPeriodMs: number, isRehearsal: boolean): void {
  if (isRehearsal || quietPeriodMs >= MIN_QUIET_PERIOD_MS) return;
  throw new StartupError(
    "PAMM_QUIET_PERIOD is below PT200S: raise it, or set PAMM_REHEARSAL=true where no real money is moved",
  );
}

export function readCertificates(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    throw new StartupError(`MT5_CA_FILE names a file that cannot be read (${code})`, { cause: error });
  }
}

function loginRange(whenMissing: string) {
  return variable<LoginRange>("logins as FIRST-LAST", parseRange, { whenMissing });
}

function timeZone() {
  return variable("an IANA time zone", (zone) => (isTimeZone(zone) ? zone : undefined));
}

function parseRange(value: string): LoginRange | undefined {
  const [, first = "", last = ""] = /^([1-9]\d{0,17})-([1-9]\d{0,17})$/.exec(value) ?? [];
  const range = { first: BigInt(first === "" ? 0 : first), last: BigInt(last === "" ? 0 : last) };
  return range.first > 0n && range.first <= range.last ? range : undefined;
}

function isTimeZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: zone }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}
