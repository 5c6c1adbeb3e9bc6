import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { DAY_MS, parseDuration } from "#kernel/values/duration.ts";
import { FEE_ANCHOR } from "../local/settings.ts";
import type { RunningSystem } from "../local/startup-banner.ts";
import { DemoFailure } from "./wait.ts";
import type { Weeks } from "./weeks.ts";

/** The system that the scenarios run on. */
export type System = {
  readonly url: string;
  readonly apiKey: string;
  readonly controlUrl: string;
  readonly masterGroup: string;
  readonly investorGroup: string;
  readonly weeks: Weeks;
};

/** The default of PAMM_FEE_PERIOD. */
const WEEK_MS = 7 * DAY_MS;

type Environment = Readonly<Record<string, string | undefined>>;

/** The contents of system.json; empty when the environment names another system. */
type SystemFile = Partial<RunningSystem>;

/** The running system of the same PAMM_STATE_DIR, unless the environment names another one. */
export function findSystem(env: Environment): System {
  const file = join(resolve(env["PAMM_STATE_DIR"] ?? ".state"), "run", "system.json");
  const isNamed = env["PAMM_URL"] !== undefined;
  if (!isNamed && !existsSync(file)) {
    throw new DemoFailure(`no running system is known in ${file}: start one with "make run" in another terminal`);
  }
  const running = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as SystemFile) : {};
  const [masterGroup] = (env["MT5_MASTER_GROUPS"] ?? "pamm\\master").split(",");
  const [investorGroup] = (env["MT5_INVESTOR_GROUPS"] ?? "pamm\\investor").split(",");
  return {
    url: env["PAMM_URL"] ?? running.url ?? "",
    apiKey: keyOf(env, running),
    controlUrl: controlOf(env, running),
    masterGroup: masterGroup ?? "",
    investorGroup: investorGroup ?? "",
    weeks: weeksOf(env, running),
  };
}

/** From the environment when it names a system with PAMM_URL; otherwise from system.json. */
function weeksOf(env: Environment, { feePeriodMs, feeAnchor }: SystemFile): Weeks {
  const periodMs = env["PAMM_URL"] === undefined ? feePeriodMs : undefined;
  const anchor = Date.parse(env["PAMM_FEE_ANCHOR"] ?? feeAnchor ?? FEE_ANCHOR);
  return { periodMs: periodMs ?? parseDuration(env["PAMM_FEE_PERIOD"] ?? "") ?? WEEK_MS, anchor };
}

function keyOf(env: Environment, { apiKey }: SystemFile): string {
  const key = env["PAMM_API_KEY"] ?? apiKey ?? env["PAMM_BOOTSTRAP_API_KEY"];
  if (key === undefined) throw new DemoFailure("the API key is unknown: set PAMM_API_KEY");
  return key;
}

/** The scenarios create accounts and move money, so they run against a simulator only. */
function controlOf(env: Environment, { simulatorControlUrl }: SystemFile): string {
  const url = env["SIM_CONTROL_URL"] ?? simulatorControlUrl;
  if (url === undefined || url === null) {
    throw new DemoFailure("the simulator's control API is unknown: set SIM_CONTROL_URL");
  }
  return url;
}
