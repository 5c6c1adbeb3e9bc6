/** The platform's return codes that this service handles. An answer has them as `"<code> <text>"`. */
export const RETCODE = {
  done: 0,
  doneWithoutData: 1,
  invalidParameters: 3,
  noPermission: 8,
  tooFrequent: 12,
  notFound: 13,
  loginsExhausted: 3002,
  loginProhibited: 3003,
  loginExists: 3004,
  invalidPassword: 3006,
  limitReached: 3007,
  tooMuchMoney: 4005,
  requestDone: 10009,
  noMoney: 10019,
  notImplemented: 12000,
  notSupported: 12002,
} as const;

/** Answers to a list that is selected by group or by ticket which mean that this server does not select so. */
export const SELECTOR_REFUSED: ReadonlySet<number> = new Set([
  RETCODE.invalidParameters,
  RETCODE.noPermission,
  RETCODE.notFound,
  RETCODE.notImplemented,
  RETCODE.notSupported,
]);

/**
 * The meaning of a code for a command that was sent. A code that is not listed is ambiguous: the outcome is unknown.
 * The refusals have to be confirmed on the broker's server before it goes live.
 */
export type RetcodeTable = {
  readonly applied: ReadonlySet<number>;
  readonly refused: ReadonlySet<number>;
};

/** Codes of the handshake: the server accepted no command on such a session. */
const AUTHENTICATION = [
  1000, 1001, 1002, 1003, 1004, 1005, 1006, 1010, 1011, 1012, 1018, 1020, 1024, 1026, 1027, 1028, 1034,
];

/** Codes of commands that move money. Code 4 ("data") is ambiguous here although its text sounds final. */
export const MONEY_RETCODES: RetcodeTable = {
  applied: new Set([RETCODE.done, RETCODE.requestDone]),
  refused: new Set([
    RETCODE.invalidParameters,
    RETCODE.noPermission,
    RETCODE.tooFrequent,
    RETCODE.notFound,
    ...AUTHENTICATION,
    RETCODE.tooMuchMoney,
    RETCODE.noMoney,
  ]),
};

/** Codes of commands that create and change accounts. */
export const USER_RETCODES: RetcodeTable = {
  applied: new Set([RETCODE.done]),
  refused: new Set([
    RETCODE.invalidParameters,
    RETCODE.noPermission,
    RETCODE.tooFrequent,
    RETCODE.notFound,
    ...AUTHENTICATION,
    RETCODE.loginsExhausted,
    RETCODE.loginProhibited,
    RETCODE.loginExists,
    RETCODE.invalidPassword,
    RETCODE.limitReached,
    3009,
    3010,
    3019,
  ]),
};

/** Codes that are distinguished in the metrics. */
export const KNOWN_RETCODES: ReadonlySet<number> = new Set([
  ...Object.values(RETCODE),
  ...MONEY_RETCODES.refused,
  ...USER_RETCODES.refused,
]);
