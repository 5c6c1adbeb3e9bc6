import { join } from "node:path";
import process from "node:process";
import { judge } from "./laws.ts";

/** Without a TypeScript compiler that it understands, the cruiser finds no module at all and is content. */
const MIN_MODULES = 50;

const { breaches, modules } = await judge(join(import.meta.dirname, "../.."));
for (const { law, from, to } of breaches) process.stdout.write(`${law}: ${from} -> ${to}\n`);
process.stdout.write(`${modules} modules looked at, ${breaches.length} against a law\n`);
if (modules <= MIN_MODULES) process.stdout.write(`expected more than ${MIN_MODULES} modules\n`);
if (breaches.length > 0 || modules <= MIN_MODULES) process.exitCode = 1;
