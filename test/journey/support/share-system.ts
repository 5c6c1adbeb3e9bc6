import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import { makeRunFolder } from "../../support/run-folder.ts";
import { environmentOf, startTestSystem, type TestSystem } from "./system.ts";

declare module "vitest" {
  // Vitest reads the types of provided values from this interface.
  interface ProvidedContext {
    /** `/system` returns the state directory of the shared system, `/state` that of a state to copy; the first request makes it. */
    readonly journeysUrl: string;
  }
}

/** Accounts that the broker archives are found within seconds. */
const SETTINGS = { PAMM_CHECK_INTERVAL: "PT15S" };
const MAKE_STATE = join(import.meta.dirname, "make-state.ts");

/**
 * One system for all test files that need no settings of their own and neither kill nor restart a process, because a start and
 * a stop take seconds of both cores. Its fee weeks last a week. It and every other system start from a copy of one state.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = makeRunFolder();
  const state = join(folder.path, "state");
  let making: Promise<unknown> | undefined;
  const madeState = async (): Promise<string> => {
    await (making ??= promisify(execFile)(process.execPath, [MAKE_STATE], { env: environmentOf(state, {}) }));
    return state;
  };
  let starting: Promise<TestSystem> | undefined;
  const startedSystem = async (): Promise<string> => {
    const { stateDir } = await (starting ??= madeState().then((from) => startTestSystem(SETTINGS, from)));
    return stateDir;
  };
  const server = createServer(({ url }, response) => {
    (url === "/state" ? madeState() : startedSystem()).then(
      (path) => response.end(path),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  project.provide("journeysUrl", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return async () => {
    server.close();
    const [started] = await Promise.allSettled([starting]);
    if (started.status === "fulfilled" && started.value !== undefined) await end(project, started.value);
    folder[Symbol.dispose]();
  };
}

async function end(project: TestProject, system: TestSystem): Promise<void> {
  await system[Symbol.asyncDispose]();
  // Printed because its logs are deleted with the run, and one fault of the shared system fails many tests.
  const hasFailed = project.vitest.state.getCountOfFailedTests() > 0;
  if (hasFailed) process.stderr.write(`\nThe shared system printed last:\n${lastLines(system.output())}\n`);
}

/** The fault is usually printed last. */
const MAX_LINES = 200;

function lastLines(text: string): string {
  return text.trim().split("\n").slice(-MAX_LINES).join("\n");
}
