import { once } from "node:events";
import { Worker } from "node:worker_threads";

/** The script of the viewer. Its package takes long to load and much memory, so a thread of its own does it and ends. */
export async function viewerScript(): Promise<Buffer> {
  const worker = new Worker(new URL("viewer-worker.ts", import.meta.url));
  const [script] = (await once(worker, "message")) as [Uint8Array];
  await worker.terminate();
  return Buffer.from(script.buffer, script.byteOffset, script.byteLength);
}
