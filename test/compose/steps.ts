import { execFile } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { createApi } from "../../deploy/demo/api.ts";
import { createPlatform } from "../../deploy/demo/platform.ts";
import { createInvestor } from "../../deploy/demo/provision.ts";
import type { System } from "../../deploy/demo/system.ts";
import { checkImages } from "./check-images.ts";
import { checkMovements } from "./check-movements.ts";
import type { Project } from "./engine.ts";
import { type Load, startLoad } from "./load.ts";
import { silent } from "./silent.ts";

export type Composed = {
  readonly project: Project;
  readonly system: System & { readonly caFile: string };
  readonly services: readonly string[];
  readonly replicas: number;
};

type Step = {
  readonly name: string;
  /** Whether money moves meanwhile, and whether the step kills what carries it. */
  readonly load: "none" | "orderly" | "killed";
  readonly act: (composed: Composed) => Promise<unknown>;
};

const INVESTORS = 4;
/** Before and after what a step does. */
const LOAD_MS = 5_000;
const HEALTHY_WITHIN_MS = 180_000;
const POLL_MS = 500;
const DEMO = join(import.meta.dirname, "../../deploy/demo/run.ts");
const NEXT = "pamm-integration-service:next";

const STEPS: readonly Step[] = [
  { name: "the images contain what they should", load: "none", act: examineImages },
  { name: "the demo's life of an Investor", load: "none", act: demo("lifecycle") },
  { name: "the demo's fee weeks", load: "none", act: demo("fortnight") },
  { name: "a replica of every service is killed, and started again", load: "killed", act: killReplicas },
  { name: "a node of the broker is killed, and started again", load: "killed", act: killBrokerNode },
  { name: "every service is rolled to a new image", load: "orderly", act: roll },
  { name: "the primary of the database is killed, and its standby promoted", load: "killed", act: failOver },
  { name: "the former primary becomes the standby", load: "orderly", act: rebuildStandby },
  { name: "the demo's life of an Investor, again", load: "none", act: demo("lifecycle") },
];

/** Whether every step kept the promises: no failed command, and each movement once. */
export async function runSteps(composed: Composed): Promise<boolean> {
  const only = process.env["STEPS"]?.split(",").map(Number);
  let isGood = true;
  for (const [index, step] of STEPS.entries()) {
    if (only !== undefined && !only.includes(index + 1)) continue;
    const startedMs = performance.now();
    const problems = await (step.load === "none" ? act(step, composed) : actUnderLoad(step, composed));
    const seconds = Math.round((performance.now() - startedMs) / 1_000);
    print(`${problems.length === 0 ? "ok    " : "FAILED"} ${step.name} (${seconds} s)`);
    for (const problem of problems) print(`       ${problem}`);
    isGood &&= problems.length === 0;
  }
  return isGood;
}

async function act({ act: run }: Step, composed: Composed): Promise<string[]> {
  return await run(composed).then(
    () => [],
    (error: unknown) => [error instanceof Error ? error.message : String(error)],
  );
}

async function actUnderLoad(step: Step, composed: Composed): Promise<string[]> {
  const logins = await createInvestors(composed.system, step.name);
  const load = startLoad(composed.system, logins, step.load === "killed");
  await sleep(LOAD_MS);
  const problems = await act(step, composed);
  await sleep(LOAD_MS);
  await load.end();
  const platform = createPlatform(composed.system.controlUrl);
  problems.push(...load.failures, ...(await checkMovements(platform, logins, load.executed)));
  print(`       ${summaryOf(load)}`);
  return problems;
}

function summaryOf({ counts, longestMs }: Load): string {
  const { executed, refused, unknown, failed } = counts;
  return `${executed} movements; answers: ${refused} refused, ${unknown} unknown, ${failed} failed; longest wait ${longestMs()} ms`;
}

async function createInvestors(system: System, purpose: string): Promise<string[]> {
  const crm = { api: createApi(system), print: silent };
  const runId = `${purpose.replaceAll(/\W/g, "").slice(-12)}${Date.now().toString(36)}`;
  const logins: string[] = [];
  for (let number = 1; number <= INVESTORS; number += 1) {
    const person = { firstName: `Load${number}`, lastName: "Test" };
    logins.push((await createInvestor(crm, system, { runId: `${runId}${number}`, person })).login);
  }
  return logins;
}

function demo(scenario: string): Step["act"] {
  return async ({ system }) => {
    const env = {
      ...process.env,
      NODE_EXTRA_CA_CERTS: system.caFile,
      PAMM_URL: system.url,
      PAMM_API_KEY: system.apiKey,
      SIM_CONTROL_URL: system.controlUrl,
      PAMM_FEE_PERIOD: "PT15S",
    };
    await promisify(execFile)(process.execPath, [DEMO, scenario], { env, maxBuffer: 2 ** 24 });
  };
}

async function examineImages({ project }: Composed): Promise<void> {
  const problems = await checkImages(project);
  if (problems.length > 0) throw new Error(problems.join("\n"));
}

async function killReplicas({ project, services }: Composed): Promise<void> {
  for (const service of services) {
    await project.docker("kill", project.container(service));
    await sleep(LOAD_MS);
    await project.docker("start", project.container(service));
    await untilHealthy(project, project.container(service));
  }
}

async function killBrokerNode({ project }: Composed): Promise<void> {
  for (const node of ["nats-2", "nats"]) {
    await project.docker("kill", project.container(node));
    await sleep(2 * LOAD_MS);
    await project.docker("start", project.container(node));
    await untilHealthy(project, project.container(node));
  }
}

async function roll({ project, replicas }: Composed): Promise<void> {
  const next = project.with({ PAMM_IMAGE: NEXT, PAMM_REVISION: "next" });
  if (process.env["BUILD"] !== "no") await next.compose("build", "init-secrets");
  await next.script("deploy/compose/roll.sh", String(replicas));
}

/** The steps of docs/operate/compose.md. */
async function failOver({ project }: Composed): Promise<void> {
  await project.docker("kill", project.container("postgres"));
  await project.compose("exec", "-T", "--user", "postgres", "postgres-standby", "pg_ctl", "promote");
  const admit = "alter system set synchronous_standby_names = ''";
  const psql = [
    "exec",
    "-T",
    "--user",
    "postgres",
    "postgres-standby",
    "psql",
    "-c",
    admit,
    "-c",
    "select pg_reload_conf()",
  ];
  await project.compose(...psql);
}

async function rebuildStandby({ project }: Composed): Promise<void> {
  await project.compose("rm", "--stop", "--force", "postgres");
  await project.docker("volume", "rm", project.volume("postgres-data"));
  await project.compose("up", "--detach", "--wait", "--no-build", "--no-deps", "postgres");
  await project.compose("run", "--rm", "--no-deps", "-T", "init-database");
}

async function untilHealthy(project: Project, container: string): Promise<void> {
  const deadline = Date.now() + HEALTHY_WITHIN_MS;
  while ((await project.docker("inspect", "--format", "{{.State.Health.Status}}", container)) !== "healthy") {
    if (Date.now() > deadline) throw new Error(`${container} is not healthy`);
    await sleep(POLL_MS);
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
