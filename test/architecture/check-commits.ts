import { join } from "node:path";
import process from "node:process";
import { BASE, problemIn, historyOf } from "./commit-subjects.ts";

const history = historyOf(join(import.meta.dirname, "../.."), BASE);
if (history.kind === "unavailable") process.stdout.write(`commit subjects not checked: ${history.why}\n`);
else {
  const wrong = history.commits.flatMap(({ id, subject }) => {
    const problem = problemIn(subject);
    return problem === undefined ? [] : [`${id} "${subject}" ${problem}`];
  });
  for (const line of wrong) process.stdout.write(`${line}\n`);
  process.stdout.write(`${history.commits.length} commit subjects checked, ${wrong.length} wrong\n`);
  if (wrong.length > 0) process.exitCode = 1;
}
