import {
  duration,
  integer,
  list,
  logLevel,
  oneOf,
  optional,
  type Variable,
  variable,
  type VariableOptions,
  port,
  secret,
  text,
} from "#kernel/process/config-variables.ts";
import type { LoginRange } from "./domain/login-range.ts";
import { isTimeZone } from "./domain/server-time.ts";
import { DEFAULT_IDLE_CLOSE_MS, DEFAULT_LOGIN_RANGE, DEFAULT_TIME_ZONE, KEY_CASES } from "./settings.ts";

/** Above the rights that the simulator knows; others of a real manager have no effect here. */
const MAX_RIGHT = 255;

export const settings = {
  SIM_HOST: text("a host to listen on", { whenMissing: "127.0.0.1" }),
  SIM_PORT: port({ whenMissing: "8443" }),
  /** The control API needs no key: use another address in a separate network only, such as a container's. */
  SIM_CONTROL_HOST: text("a host to listen on", { whenMissing: "127.0.0.1" }),
  SIM_CONTROL_PORT: port({ whenMissing: "8444" }),
  SIM_IDLE_CLOSE: duration({ whenMissing: `PT${DEFAULT_IDLE_CLOSE_MS / 1_000}S` }),
  SIM_TIME_ZONE: timeZone({ whenMissing: DEFAULT_TIME_ZONE }),
  SIM_TLS_NAMES: optional(list()),
  SIM_GROUPS: optional(list()),
  SIM_LOGIN_RANGE: loginRange({ whenMissing: `${DEFAULT_LOGIN_RANGE.first}-${DEFAULT_LOGIN_RANGE.last}` }),
  SIM_KEY_CASE: oneOf(KEY_CASES, { whenMissing: "live" }),
  SIM_MANAGER_GROUPS: text("a mask of groups", { whenMissing: "*" }),
  SIM_MANAGER_RIGHTS: optional(rights()),
  MT5_LOGIN: integer(1, DEFAULT_LOGIN_RANGE.last),
  MT5_PASSWORD: secret("the manager's API password"),
  MT5_LOGIN_RANGE: loginRange({ whenMissing: "3000000-3999999" }),
  PAMM_STATE_DIR: text("a folder", { whenMissing: ".state" }),
  LOG_LEVEL: logLevel(),
};

function loginRange(options: VariableOptions): Variable<LoginRange> {
  return variable("logins as FIRST-LAST", parseRange, options);
}

function timeZone(options: VariableOptions): Variable<string> {
  return variable("an IANA time zone", (zone) => (isTimeZone(zone) ? zone : undefined), options);
}

function rights(): Variable<readonly number[]> {
  return variable("numbers of manager rights separated by commas", (value): readonly number[] | undefined => {
    const numbers = value.split(",").map((part) => (/^\s*\d{1,3}\s*$/.test(part) ? Number(part) : Number.NaN));
    return numbers.every((number) => number <= MAX_RIGHT) ? numbers : undefined;
  });
}

function parseRange(value: string): LoginRange | undefined {
  const match = /^(\d{1,9})-(\d{1,9})$/.exec(value);
  const [first, last] = [Number(match?.[1] ?? 0), Number(match?.[2] ?? 0)];
  return first >= 1 && last >= first ? { first, last } : undefined;
}
