import { startSimulator } from "../../services/simulator/start.ts";

export type TestSimulator = Awaited<ReturnType<typeof startSimulator>>;
export type TestSimulatorOptions = NonNullable<Parameters<typeof startSimulator>[0]>;

/** A trade server of the test's own, over TLS, in this process. Whoever starts it disposes it. */
export async function testSimulator(options: TestSimulatorOptions = {}): Promise<TestSimulator> {
  return await startSimulator(options);
}
