import { mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestEdge, type TestOptions, testEdge } from "../../../services/edge/testing/test-edge.ts";
import { buildDocs } from "../build.ts";

/** An edge that serves the documentation of these sources. */
export async function edgeWithDocs(options: TestOptions = {}): Promise<TestEdge> {
  using dist = mkdtempDisposableSync(join(tmpdir(), "pamm-dist-"));
  await buildDocs(join(dist.path, "docs"));
  return await testEdge({ ...options, app: { ...options.app, dist: dist.path } });
}
