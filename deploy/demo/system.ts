import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseDuration } from "#kernel/duration.ts";
import { DemoFailure } from "./wait.ts";
import type { Weeks } from "./weeks.ts";

/** Where the story takes place. */
export type System = {
  readonly url: string;
  readonly apiKey: string;
  readonly controlUrl: string;
  readonly masterGroup: string;
  readonly investorGroup: string;
  readonly weeks: Weeks;
};

const WEEK_MS = 604_800_000;
const ANCHOR = "2025-01-04T00:00:00Z";

type Environment = Readonly<Record<string, string | undefined>>;

/** What the launcher tells others about itself. */
type Told = {
  readonly url?: string;
  readonly apiKey?: string | null;
  readonly simulatorControlUrl?: string | null;
  readonly feePeriodMs?: number;
  readonly feeAnchor?: string;
};

/** The running system of the same PAMM_STATE_DIR, unless the environment names another one. */
export function findSystem(env: Environment): System {
  const file = join(resolve(env["PAMM_STATE_DIR"] ?? ".state"), "run", "system.json");
  const isNamed = env["PAMM_URL"] !== undefined;
  if (!isNamed && !existsSync(file)) {
    throw new DemoFailure(`no running system is known in ${file}: start one with "make run" in another terminal`);
  }
  const told = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Told) : {};
  const [masterGroup] = (env["MT5_MASTER_GROUPS"] ?? "pamm\\master").split(",");
  const [investorGroup] = (env["MT5_INVESTOR_GROUPS"] ?? "pamm\\investor").split(",");
  return {
    url: env["PAMM_URL"] ?? told.url ?? "",
    apiKey: keyOf(env, told),
    controlUrl: controlOf(env, told),
    masterGroup: masterGroup ?? "",
    investorGroup: investorGroup ?? "",
    weeks: weeksOf(env, told),
  };
}

/** Of a system that is named, what the environment says, as its own does; a system of ours tells them. */
function weeksOf(env: Environment, { feePeriodMs, feeAnchor }: Told): Weeks {
  const given = env["PAMM_URL"] === undefined ? feePeriodMs : undefined;
  const anchor = Date.parse(env["PAMM_FEE_ANCHOR"] ?? feeAnchor ?? ANCHOR);
  return { periodMs: given ?? parseDuration(env["PAMM_FEE_PERIOD"] ?? "") ?? WEEK_MS, anchor };
}

function keyOf(env: Environment, { apiKey }: Told): string {
  const key = env["PAMM_API_KEY"] ?? apiKey ?? env["PAMM_BOOTSTRAP_API_KEY"];
  if (key === undefined) throw new DemoFailure("the API key is not known here: set PAMM_API_KEY");
  return key;
}

/** The story creates accounts and moves money, so it never runs against a platform that is not a simulator. */
function controlOf(env: Environment, { simulatorControlUrl }: Told): string {
  const url = env["SIM_CONTROL_URL"] ?? simulatorControlUrl;
  if (url === undefined || url === null) {
    throw new DemoFailure("the simulator's control API is not known here: set SIM_CONTROL_URL");
  }
  return url;
}
