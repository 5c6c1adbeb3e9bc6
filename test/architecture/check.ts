import { join } from "node:path";
import process from "node:process";
import { checkRules } from "./rules.ts";

/** Without a compatible TypeScript compiler, dependency-cruiser finds no module and reports no violation. */
const MIN_MODULES = 50;

const { violations, modules } = await checkRules(join(import.meta.dirname, "../.."));
for (const { rule, from, to } of violations) process.stdout.write(`${rule}: ${from} -> ${to}\n`);
process.stdout.write(`${modules} modules checked, ${violations.length} violations\n`);
if (modules <= MIN_MODULES) process.stdout.write(`expected more than ${MIN_MODULES} modules\n`);
if (violations.length > 0 || modules <= MIN_MODULES) process.exitCode = 1;
