import { startSimulator } from "../../services/simulator/start.ts";

export { ALL_RIGHTS, MANAGER_RIGHT } from "../../services/simulator/settings.ts";

export type TestSimulator = Awaited<ReturnType<typeof startSimulator>>;
export type TestSimulatorOptions = NonNullable<Parameters<typeof startSimulator>[0]>;

/** A trade server over TLS in this process. The caller disposes it. */
export async function testSimulator(options: TestSimulatorOptions = {}): Promise<TestSimulator> {
  return await startSimulator(options);
}
