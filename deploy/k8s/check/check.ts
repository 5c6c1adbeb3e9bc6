import process from "node:process";
import { buildOverlay, type Manifest, OVERLAYS } from "./manifests.ts";
import { operationProblems } from "./operation.ts";
import { securityProblems } from "./security.ts";
import { schemaProblems, typeProblems } from "./types.ts";

/** Fewer are not the system: a folder that builds to nothing has no problem. */
const MIN_MANIFESTS = 50;

const built: Manifest[] = [];
const problems: string[] = [];
for (const overlay of OVERLAYS) {
  const manifests = await buildOverlay(overlay);
  if (manifests.length < MIN_MANIFESTS) problems.push(`${overlay}: has ${manifests.length} manifests only`);
  for (const problem of [...securityProblems(manifests), ...operationProblems(manifests)]) {
    problems.push(`${overlay}: ${problem}`);
  }
  built.push(...manifests);
}
problems.push(...typeProblems(built), ...(await schemaProblems(built)));
for (const problem of new Set(problems)) process.stdout.write(`${problem}\n`);
process.stdout.write(`${built.length} manifests checked, ${problems.length} problems\n`);
if (problems.length > 0) process.exitCode = 1;
