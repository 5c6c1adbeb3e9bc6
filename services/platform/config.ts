import { BACKBONE_SETTINGS, grpcAddress } from "#kernel/process/backbone.ts";
import type { Config } from "#kernel/process/config.ts";
import { IDENTITY_SETTINGS } from "#kernel/certificates/identity.ts";
import { databaseUrl, migrationUrl } from "#kernel/postgres/migration.ts";
import {
  duration,
  durationWithin,
  integer,
  list,
  oneOf,
  optional,
  variable,
  type VariableOptions,
  secret,
  text,
  timeZone,
  url,
} from "#kernel/process/config-variables.ts";
import { parseDuration } from "#kernel/values/duration.ts";
import { MAX_LEVERAGE } from "#kernel/values/limits.ts";
import { readCertificates } from "#kernel/certificates/read-certificates.ts";
import { CHECK_SETTINGS } from "#kernel/reconcile/reconcile.ts";
import { StartupError } from "#kernel/process/startup-error.ts";
import type { DealTypes } from "./deps.ts";
import { LEG_KINDS, type LegKind } from "./domain/leg-kind.ts";
import { BALANCE_TYPES } from "./mt5/balance.ts";
import type { ServerTrust } from "./mt5/http/server-trust.ts";
import { DEAL_ACTION } from "./mt5/deals.ts";
import type { LoginRange } from "./store/account-creations.ts";
import { PLATFORM_RETENTION } from "./retention.ts";

/** A command of a paused process can still be executed until the server closes its idle connection, after 180 s. */
const MIN_QUIET_PERIOD_MS = 200_000;
/** Maximum sessions that the platform allows a manager; each is one connection with one request at a time. */
const MAX_SESSIONS = 16;

const KINDS = Object.keys(LEG_KINDS) as readonly LegKind[];

export const settings = {
  PLATFORM_DATABASE_URL: databaseUrl(),
  PLATFORM_DATABASE_MIGRATION_URL: optional(migrationUrl()),
  ...BACKBONE_SETTINGS,
  ...IDENTITY_SETTINGS,
  ...CHECK_SETTINGS,
  ...PLATFORM_RETENTION,
  ACCOUNT_GRPC_URL: grpcAddress(),
  FEE_GRPC_URL: grpcAddress(),
  FUNDING_GRPC_URL: grpcAddress(),
  SUBSCRIPTION_GRPC_URL: grpcAddress(),
  MT5_URL: url(["https"]),
  MT5_LOGIN: text("the manager's login"),
  MT5_PASSWORD: secret("the manager's API password"),
  MT5_CA_FILE: optional(text("a file with certificates in PEM")),
  MT5_TLS_NAME: optional(text("the name or address in the platform's certificate")),
  MT5_TLS_FINGERPRINT: optional(fingerprint()),
  /** Part of every unique key of a deal: must not change while the trade server stays the same. */
  MT5_SERVER_NAME: text("a name for the trade server", { whenMissing: "mt5" }),
  MT5_MASTER_GROUPS: list({ whenMissing: "pamm\\master" }),
  MT5_INVESTOR_GROUPS: list({ whenMissing: "pamm\\investor" }),
  MT5_PAYMENT_GROUP: text("a group", { whenMissing: "pamm\\payment" }),
  MT5_MAX_LEVERAGE: integer(1, MAX_LEVERAGE, { whenMissing: String(MAX_LEVERAGE) }),
  MT5_GROUP_MAX_LEVERAGE: optional(groupLimits()),
  MT5_DEAL_TYPES: optional(dealTypes()),
  MT5_LOGIN_RANGE: loginRange("3000000-3999999"),
  MT5_SESSIONS: integer(1, MAX_SESSIONS, { whenMissing: "8" }),
  MT5_TIME_ZONE: timeZone(),
  MT5_COMMAND_TIMEOUT: durationWithin("PT1S", "PT30S", "PT5S"),
  MT5_CONNECT_TIMEOUT: durationWithin("PT1S", "PT30S", "PT5S"),
  MT5_PING_INTERVAL: durationWithin("PT1S", "PT1M", "PT4S"),
  MT5_PROVE_ALIVE_AFTER: durationWithin("PT0.1S", "PT1M", "PT1S"),
  MT5_READ_INTERVAL: durationWithin("PT0.05S", "PT1H", "PT1S"),
  PAMM_INVESTOR_TRADING: oneOf(["disable", "leave"], { whenMissing: "disable" }),
  PAMM_QUIET_PERIOD: duration({ whenMissing: "PT5M" }),
  PAMM_MAX_TICK_AGE: tickAge({ whenMissing: "PT1H" }),
  PAMM_REVIEW_AFTER: duration({ whenMissing: "PT6H" }),
  PAMM_RESULT_ACTIONS: optional(resultActions()),
  PAMM_RESULT_COMMENTS: optional(list()),
};

type PlatformConfig = Config<typeof settings>;

/** A shorter period is for rehearsals only: a command could still be executed after it was recorded as absent. */
export function requireSafeQuietPeriod(quietPeriodMs: number, isRehearsal: boolean): void {
  if (isRehearsal || quietPeriodMs >= MIN_QUIET_PERIOD_MS) return;
  throw new StartupError(
    "PAMM_QUIET_PERIOD is below PT200S: raise it, or set PAMM_REHEARSAL=true where no real money is moved",
  );
}

/** A limit of a misspelt group would limit nothing. */
export function requireKnownGroups(
  config: Pick<
    PlatformConfig,
    "MT5_MASTER_GROUPS" | "MT5_INVESTOR_GROUPS" | "MT5_PAYMENT_GROUP" | "MT5_GROUP_MAX_LEVERAGE"
  >,
): void {
  const groups = [...config.MT5_MASTER_GROUPS, ...config.MT5_INVESTOR_GROUPS, config.MT5_PAYMENT_GROUP];
  const unknown = [...(config.MT5_GROUP_MAX_LEVERAGE?.keys() ?? [])].filter((group) => !groups.includes(group));
  if (unknown.length === 0) return;
  throw new StartupError(
    `MT5_GROUP_MAX_LEVERAGE names groups in which no account is created: ${unknown.join(", ")}. Allowed: ${groups.join(", ")}`,
  );
}

/** A pinned certificate is trusted for itself, whatever its authority and its name are. */
export function readTrust(
  config: Pick<PlatformConfig, "MT5_CA_FILE" | "MT5_TLS_NAME" | "MT5_TLS_FINGERPRINT">,
): ServerTrust {
  const { MT5_CA_FILE: caFile, MT5_TLS_NAME: name, MT5_TLS_FINGERPRINT: fingerprint } = config;
  return fingerprint === undefined ? { ca: readCertificates("MT5_CA_FILE", caFile), name } : { fingerprint };
}

function tickAge(options: VariableOptions) {
  return variable(
    "an ISO 8601 duration such as PT1H, or off",
    (value) => (value === "off" ? Number.POSITIVE_INFINITY : parseDuration(value)),
    options,
  );
}

/** As openssl and browsers show it, with or without colons. */
function fingerprint() {
  return variable("the SHA-256 fingerprint of a certificate, 64 hexadecimal digits", (shown) => {
    const digits = shown.replaceAll(":", "").toUpperCase();
    return /^[0-9A-F]{64}$/.test(digits) ? digits : undefined;
  });
}

function groupLimits() {
  return variable(`limits as GROUP=LEVERAGE separated by commas, each from 1 to ${MAX_LEVERAGE}`, parseGroupLimits);
}

function dealTypes() {
  return variable(
    `kinds and their types as KIND=TYPE separated by commas, each kind once; kinds: ${KINDS.join(", ")}; types: ${BALANCE_TYPES.join(", ")}`,
    parseDealTypes,
  );
}

function parseDealTypes(value: string): DealTypes | undefined {
  const types: { -readonly [Kind in keyof DealTypes]: DealTypes[Kind] } = {};
  for (const part of value.split(",")) {
    const [name, digits] = part.trim().split("=");
    const kind = KINDS.find((each) => each === name);
    const type = BALANCE_TYPES.find((each) => String(each) === digits);
    if (kind === undefined || type === undefined || kind in types) return undefined;
    types[kind] = type;
  }
  return types;
}

function loginRange(whenMissing: string) {
  return variable<LoginRange>("logins as FIRST-LAST", parseRange, { whenMissing });
}

/** Other actions are results always, or never. */
function resultActions() {
  const allowed: readonly number[] = [DEAL_ACTION.balance, DEAL_ACTION.charge, DEAL_ACTION.correction];
  return variable(`actions of deals separated by commas, of ${allowed.join(", ")}`, (value) => {
    const actions = value.split(",").map(Number);
    return actions.every((action) => allowed.includes(action)) ? actions : undefined;
  });
}

function parseGroupLimits(value: string): ReadonlyMap<string, number> | undefined {
  const limits = new Map<string, number>();
  for (const part of value.split(",")) {
    const [, group = "", digits = ""] = /^(.+)=([1-9]\d{0,3})$/.exec(part.trim()) ?? [];
    if (group === "" || Number(digits) > MAX_LEVERAGE || limits.has(group)) return undefined;
    limits.set(group, Number(digits));
  }
  return limits;
}

function parseRange(value: string): LoginRange | undefined {
  const [, first = "", last = ""] = /^([1-9]\d{0,17})-([1-9]\d{0,17})$/.exec(value) ?? [];
  const range = { first: BigInt(first === "" ? 0 : first), last: BigInt(last === "" ? 0 : last) };
  return range.first > 0n && range.first <= range.last ? range : undefined;
}
