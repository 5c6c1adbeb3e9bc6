import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import type { TestProject } from "vitest/node";
import { startTestSystem, type TestSystem } from "./system.ts";

declare module "vitest" {
  // Vitest reads the types of provided values from this interface.
  interface ProvidedContext {
    /** Returns the state directory of the shared system; the first request starts the system. */
    readonly sharedSystemUrl: string;
  }
}

/**
 * One system for all test files that need no settings of their own and neither kill nor restart a process, because a start and
 * a stop take seconds of both cores. Its fee weeks last a week.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  let starting: Promise<TestSystem> | undefined;
  const server = createServer((_request, response) => {
    starting ??= startTestSystem();
    starting.then(
      ({ stateDir }) => response.end(stateDir),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  project.provide("sharedSystemUrl", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return async () => {
    server.close();
    const [started] = await Promise.allSettled([starting]);
    if (started.status !== "fulfilled" || started.value === undefined) return;
    await started.value[Symbol.asyncDispose]();
    // Printed because its logs are deleted with the run, and one fault of the shared system fails many tests.
    const hasFailed = project.vitest.state.getCountOfFailedTests() > 0;
    if (hasFailed) process.stderr.write(`\nThe shared system printed last:\n${lastLines(started.value.output())}\n`);
  };
}

/** The fault is usually printed last. */
const MAX_LINES = 200;

function lastLines(text: string): string {
  return text.trim().split("\n").slice(-MAX_LINES).join("\n");
}
