import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestProject } from "vitest/node";
import { startTestSystem, type TestSystem } from "./system.ts";

declare module "vitest" {
  // Vitest reads the types of provided values from this interface.
  interface ProvidedContext {
    /** Answers the state directory of the shared system, and starts the system for the first test file that asks. */
    readonly sharedSystemUrl: string;
  }
}

/**
 * One system for all test files that need no settings of their own and neither kill nor restart anything: a start and a stop take seconds
 * of both cores. Fee weeks last a week there.
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
    if (started.status === "fulfilled") await started.value?.[Symbol.asyncDispose]();
  };
}
