import { mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { type Project, missingEngine, projectOf } from "./engine.ts";
import { runSteps } from "./steps.ts";

/**
 * make compose-test: builds the images, starts a cluster with two replicas of every service, and fails its parts while money moves. Exit code
 * 1 when a command failed or money is not where it was sent, and when there is no Docker engine. BUILD=no takes images that exist, KEEP=yes leaves the system running.
 */
const NAME = "pamm-compose-test";
/** Others than those of `make run`. */
const [HTTPS_PORT, CONTROL_PORT] = ["20443", "20444"];
const REPLICATED = ["platform", "account", "funding", "subscription", "fee", "edge"];
const REPLICAS = 2;

const missing = await missingEngine();
if (missing === undefined) {
  const isGood = await test().catch((error: Error) => {
    process.stderr.write(`make compose-test: ${error.message}\n`);
    return false;
  });
  process.exitCode = isGood ? 0 : 1;
} else {
  process.stderr.write(`make compose-test was not run: ${missing}\n`);
  process.exitCode = 1;
}

async function test(): Promise<boolean> {
  using folder = new DisposableStack();
  const caFile = join(
    folder.adopt(mkdtempDisposableSync(join(tmpdir(), `${NAME}-`)), (made) => made.remove()).path,
    "ca.pem",
  );
  const project = projectOf(NAME, {
    COMPOSE_PROFILES: "simulator,cluster",
    PAMM_HTTPS_PORT: HTTPS_PORT,
    SIM_CONTROL_PORT: CONTROL_PORT,
    // Another one than that of a system that runs beside it.
    PAMM_FRONT_NETWORK: process.env["PAMM_FRONT_NETWORK"] ?? "10.222.251.0/26",
    // The demo needs short fee weeks.
    PAMM_FEE_PERIOD: "PT15S",
  });
  try {
    if (process.env["BUILD"] !== "no") await project.compose("build");
    const scales = REPLICATED.flatMap((service) => ["--scale", `${service}=${REPLICAS}`]);
    await project.compose("up", "--detach", "--wait", "--no-build", ...scales);
    return await runSteps({
      project,
      services: REPLICATED,
      replicas: REPLICAS,
      system: await systemOf(project, caFile),
    });
  } finally {
    if (process.env["KEEP"] !== "yes") await project.compose("down", "--volumes", "--timeout", "30");
  }
}

async function systemOf(project: Project, caFile: string) {
  const authority = await project.compose("exec", "-T", "proxy", "cat", "/run/pamm/ca.pem");
  setDefaultCACertificates([...getCACertificates("default"), authority]);
  writeFileSync(caFile, authority);
  return {
    caFile,
    url: `https://localhost:${HTTPS_PORT}`,
    apiKey: await project.compose("exec", "-T", "edge", "node", "-p", 'fs.readFileSync("/run/pamm/api-key", "utf8")'),
    controlUrl: `http://127.0.0.1:${CONTROL_PORT}`,
    masterGroup: "pamm\\master",
    investorGroup: "pamm\\investor",
    weeks: { periodMs: 15_000, anchor: Date.parse("2025-01-04T00:00:00Z") },
  };
}
