/** The text of each code in an answer. */
const TEXTS: Readonly<Record<number, string>> = {
  0: "Done",
  1: "OK, no data",
  2: "Common error",
  3: "Invalid parameters",
  4: "Invalid data",
  5: "Disk error",
  6: "Memory error",
  7: "Network error",
  8: "Not enough permissions",
  9: "Operation timeout",
  10: "No connection",
  11: "Service is not available",
  12: "Too frequent requests",
  13: "Not found",
  14: "Partial error",
  15: "Server shutdown in progress",
  16: "Operation has been canceled",
  17: "Duplicate data",
  1001: "Invalid account",
  1002: "Account disabled",
  1010: "Old client version",
  3002: "All logins are used",
  3003: "Login is reserved on another server",
  3004: "Login already exists",
  3005: "Attempt of self-deletion",
  3006: "Invalid account password",
  3007: "Limit reached",
  3008: "Account has open trades",
  3010: "Different currency",
  4005: "Money limit reached",
  10009: "Request executed",
  10013: "Invalid request",
  10019: "Not enough money",
};

/** Codes with a rule in this program; a fault may answer any other one as well. */
export const RETCODE = {
  done: 0,
  invalidParameters: 3,
  noPermission: 8,
  notFound: 13,
  invalidAccount: 1001,
  oldClient: 1010,
  loginsExhausted: 3002,
  loginProhibited: 3003,
  loginExists: 3004,
  invalidPassword: 3006,
  limitReached: 3007,
  differentCurrency: 3010,
  tooMuchMoney: 4005,
  notEnoughMoney: 10_019,
} as const;

export type Retcode = (typeof RETCODE)[keyof typeof RETCODE];

/** A command's "no": nothing has changed. */
export class CommandRefused extends Error {
  override readonly name = "CommandRefused";
  readonly retcode: Retcode;

  constructor(retcode: Retcode) {
    super(retcodeText(retcode));
    this.retcode = retcode;
  }
}

export function refused(code: keyof typeof RETCODE): CommandRefused {
  return new CommandRefused(RETCODE[code]);
}

/** As it travels: the number, a space, the text. */
export function retcodeText(code: number): string {
  return `${code} ${TEXTS[code] ?? "Error"}`;
}
