import type { Group } from "./domain/group.ts";
import type { LoginRange } from "./domain/login-range.ts";

/** The group of the manager account, and those in which clients' accounts may be. */
export const MANAGER_GROUP = "managers";
export const DEFAULT_GROUPS = [
  MANAGER_GROUP,
  "pamm\\master",
  "pamm\\investor",
  "pamm\\payment",
  "demo\\forex",
] as const;

/** As real servers do with a connection that is silent. */
export const DEFAULT_IDLE_CLOSE_MS = 180_000;
/** It has daylight saving and differs from UTC all year, like the zones of many brokers. */
export const DEFAULT_TIME_ZONE = "Europe/Athens";
/** All logins of up to nine digits, which is what SIM_LOGIN_RANGE may name. */
export const DEFAULT_LOGIN_RANGE: LoginRange = { first: 1, last: 999_999_999 };

export const KEY_CASES = ["live", "documented", "lower"] as const;
/**
 * Clients in production read values such as `total`, `ticket` and `time` in lower case and the fields of records as they are
 * documented: that is `live`. In the manual all names begin with capitals, and some servers write all in lower case.
 */
export type KeyCase = (typeof KEY_CASES)[number];

/** EnManagerRights by the numbers of the vendor's header. */
export const MANAGER_RIGHT = {
  manager: 1,
  accountant: 24,
  readAccounts: 25,
  personalData: 26,
  editAccounts: 27,
  readTrades: 29,
} as const;
export type ManagerRight = (typeof MANAGER_RIGHT)[keyof typeof MANAGER_RIGHT];
export const ALL_RIGHTS: readonly number[] = Object.values(MANAGER_RIGHT);

export type Settings = {
  readonly managerLogin: number;
  readonly managerPassword: string;
  readonly managerRights: ReadonlySet<number>;
  /** Accounts outside this mask do not exist for the manager. */
  readonly managerGroups: string;
  readonly groups: readonly Group[];
  readonly loginRange: LoginRange;
  /** Logins that the simulator leaves to its client. */
  readonly reservedLogins: LoginRange | undefined;
  readonly timeZone: string;
  readonly keyCase: KeyCase;
};
