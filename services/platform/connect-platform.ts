import type { Config } from "#kernel/process/config.ts";
import type { Log } from "#kernel/process/log.ts";
import { StartupError } from "#kernel/process/startup-error.ts";
import type { settings } from "./config.ts";
import type { Sender } from "./deps.ts";
import { createMt5Client, type Mt5Client } from "./mt5/client.ts";
import { Mt5Error, type Mt5Problem } from "./mt5/errors.ts";
import type { ServerTrust } from "./mt5/http/server-trust.ts";

/** Wait for the first session at startup, long enough for a trade server that restarts. */
const SIGN_IN_WAIT_MS = 5_000;

export type ConnectionOptions = {
  readonly config: Config<typeof settings>;
  readonly trust: ServerTrust;
  readonly sender: Sender;
  /** An earlier process sent commands whose outcome is still unknown. */
  readonly areAnswersMissing: boolean;
  readonly log: Log;
};

/**
 * A client of a manager with the rights that the service needs, signed in unless the platform is away; a StartupError when a setting is
 * wrong. It ends with the stack.
 */
export async function connectPlatform(stack: AsyncDisposableStack, options: ConnectionOptions): Promise<Mt5Client> {
  const { config, trust, sender, areAnswersMissing, log } = options;
  const mt5 = stack.use(
    createMt5Client({
      url: new URL(config.MT5_URL),
      credentials: { login: config.MT5_LOGIN, password: config.MT5_PASSWORD },
      trust,
      timeZone: config.MT5_TIME_ZONE,
      maxSessions: config.MT5_SESSIONS,
      idPrefix: `platform-${sender.epoch}`,
      now: () => new Date(sender.clock.nowMs()),
      limits: {
        // An attempt counts as lost after this time, so a session must not wait longer for an answer.
        commandTimeoutMs: config.MT5_COMMAND_TIMEOUT,
        dialTimeoutMs: config.MT5_CONNECT_TIMEOUT,
        pingEveryMs: config.MT5_PING_INTERVAL,
        proveAliveAfterMs: config.MT5_PROVE_ALIVE_AFTER,
      },
      areAnswersMissing,
      log,
    }),
  );
  await requireManager(mt5, options);
  await requireRights(mt5, options);
  return mt5;
}

/** Ends the start when the manager lacks a right without which money or deals are never moved or read. */
async function requireRights(mt5: Mt5Client, { config, log }: ConnectionOptions): Promise<void> {
  const groups = [...config.MT5_MASTER_GROUPS, ...config.MT5_INVESTOR_GROUPS, config.MT5_PAYMENT_GROUP];
  try {
    const { needed, limiting, unchecked } = await mt5.probeRights([...new Set(groups)]);
    for (const reason of limiting) {
      log.warn("right or group of the trading platform missing, service starts without it", { reason });
    }
    for (const reason of unchecked) log.info("rights of the manager not checked, service starts", { reason });
    if (needed.length === 0) return;
    const missing = needed.map((each) => `- ${each}`).join("\n");
    throw new StartupError(`the manager ${config.MT5_LOGIN} cannot be used, these are missing:\n${missing}`);
  } catch (error) {
    if (!(error instanceof Mt5Error)) throw error;
    // A platform that restarts is no reason to end: the first use shows what is missing.
    log.warn("rights of the manager not checked, service starts", { error });
  }
}

/** Problems that waiting does not end. */
const MISTAKES: ReadonlySet<Mt5Problem> = new Set(["untrusted", "login_refused", "server_authentication_failed"]);

function isUnknownHost({ cause }: Mt5Error): boolean {
  return cause instanceof Error && "code" in cause && cause.code === "ENOTFOUND";
}

/** Ends the start with one clear message when the platform refuses the manager, or is another server. One that is away does not end it. */
async function requireManager(mt5: Mt5Client, { config, log }: ConnectionOptions): Promise<void> {
  try {
    using session = await mt5.acquireForCommand({ waitMs: SIGN_IN_WAIT_MS });
    void session;
  } catch (error) {
    if (!(error instanceof Mt5Error)) throw error;
    if (!MISTAKES.has(error.problem) && !isUnknownHost(error)) {
      log.warn("trading platform away, service starts without it and signs in when it is back", { error });
      return;
    }
    const advice =
      error.problem === "login_refused" || error.problem === "server_authentication_failed"
        ? "check MT5_LOGIN and MT5_PASSWORD, and that the manager may use the Web API"
        : "check MT5_URL, MT5_CA_FILE, MT5_TLS_NAME and MT5_TLS_FINGERPRINT";
    throw new StartupError(`no session with the trading platform at ${config.MT5_URL}: ${error.message}; ${advice}`, {
      cause: error,
    });
  }
}
