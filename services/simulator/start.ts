import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog, type Log } from "#kernel/process/log.ts";
import { StartupError } from "#kernel/process/startup-error.ts";
import { serveControl } from "./control/serve-control.ts";
import { type Group, parseGroup } from "./domain/group.ts";
import { firstChoice, type LoginRange } from "./domain/login-range.ts";
import {
  ALL_RIGHTS,
  DEFAULT_GROUPS,
  DEFAULT_IDLE_CLOSE_MS,
  DEFAULT_LOGIN_RANGE,
  DEFAULT_TIME_ZONE,
  type KeyCase,
  type Settings,
} from "./settings.ts";
import { lockFolder } from "./store/lock-file.ts";
import { openBooks } from "./store/open-books.ts";
import { createTradeServer, type NowMs } from "./trade-server.ts";
import { CERTIFICATE_FILE, ensureCertificate } from "./webapi/certificate.ts";
import { serveWebApi } from "./webapi/listener.ts";

export type SimulatorOptions = {
  /** Holds the folder `simulator`; without it, the files are in a temporary folder that dispose removes. */
  readonly stateDir?: string;
  readonly host?: string;
  /** 0 or none = any free one. */
  readonly port?: number;
  readonly controlHost?: string;
  readonly controlPort?: number;
  readonly idleCloseMs?: number;
  readonly tlsNames?: readonly string[];
  readonly managerLogin?: number;
  readonly managerPassword?: string;
  readonly managerRights?: readonly number[];
  readonly managerGroups?: string;
  /** Groups in addition to the default ones: a name, or a name with currency and digits (`real\\cent=USC/2`). */
  readonly groups?: readonly string[];
  readonly loginRange?: LoginRange;
  readonly reservedLogins?: LoginRange;
  readonly timeZone?: string;
  readonly keyCase?: KeyCase;
  readonly nowMs?: NowMs;
  readonly log?: Log;
};

export type Simulator = AsyncDisposable & {
  readonly url: string;
  readonly port: number;
  readonly controlUrl: string;
  readonly controlPort: number;
  /** PEM of the certificate that clients have to trust, and the file it is in. */
  readonly ca: string;
  readonly caFile: string;
  readonly managerLogin: number;
  readonly managerPassword: string;
  /** Rejects when the simulator can no longer write its journal; resolves when it has stopped. */
  readonly closed: Promise<void>;
};

const LOOPBACK = "127.0.0.1";
const DEFAULT_MANAGER = { login: 1005, password: "Manager#1005" };

/** A trade server with its Web API and its control API, in this process. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  await using stack = new AsyncDisposableStack();
  const settings = settingsOf(options);
  const folder = await openFolder(stack, options.stateDir);
  stack.use(await lockFolder(join(folder, "lock")));
  const { books, journal } = await openBooks(folder, firstChoice(settings.loginRange));
  stack.use(journal);
  if (books.accounts.has(settings.managerLogin)) {
    throw new StartupError("the manager's login (MT5_LOGIN) is that of an account in the state folder: choose another");
  }
  const certificate = await ensureCertificate(folder, options.tlsNames ?? []);
  const server = createTradeServer(settings, { books, journal }, options.nowMs ?? Date.now);
  const log = options.log ?? createLog({ service: "simulator", level: "warn" });
  const { host = LOOPBACK, port = 0, idleCloseMs = DEFAULT_IDLE_CLOSE_MS } = options;
  const { controlHost = LOOPBACK, controlPort = 0 } = options;
  const webApi = stack.use(await serveWebApi({ server, log, host, port, idleCloseMs, certificate }));
  const { connections } = webApi;
  const control = stack.use(await serveControl({ server, log, connections, host: controlHost, port: controlPort }));
  const running = stack.move();
  return {
    url: `https://${urlHost(host)}:${webApi.port}`,
    port: webApi.port,
    controlUrl: `http://${urlHost(controlHost)}:${control.port}`,
    controlPort: control.port,
    ca: certificate.cert,
    caFile: join(folder, CERTIFICATE_FILE),
    managerLogin: settings.managerLogin,
    managerPassword: settings.managerPassword,
    closed: journal.closed,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

function settingsOf(options: SimulatorOptions): Settings {
  return {
    managerLogin: options.managerLogin ?? DEFAULT_MANAGER.login,
    managerPassword: options.managerPassword ?? DEFAULT_MANAGER.password,
    managerRights: new Set(options.managerRights ?? ALL_RIGHTS),
    managerGroups: options.managerGroups ?? "*",
    groups: [...DEFAULT_GROUPS, ...(options.groups ?? [])].map(groupOf),
    loginRange: options.loginRange ?? DEFAULT_LOGIN_RANGE,
    reservedLogins: options.reservedLogins,
    timeZone: options.timeZone ?? DEFAULT_TIME_ZONE,
    keyCase: options.keyCase ?? "live",
  };
}

function groupOf(text: string): Group {
  const group = parseGroup(text);
  if (group === undefined) throw new StartupError(`${text} (SIM_GROUPS) is no group: name, or name=CURRENCY/DIGITS`);
  return group;
}

async function openFolder(stack: AsyncDisposableStack, stateDir: string | undefined): Promise<string> {
  const parent = stateDir ?? (await mkdtemp(join(tmpdir(), "simulator-")));
  if (stateDir === undefined) stack.defer(() => rm(parent, { recursive: true, force: true }));
  const folder = join(parent, "simulator");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** A host that clients on this machine can connect to, and that the certificate names. */
function urlHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}
